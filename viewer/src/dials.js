// The card beside the stage: sliders of what may be set, of joints, and what can be done with the motion.
import { leave, fileName } from "./capture.js";
import { tidy } from "./data.js";
import { replayed } from "./machine.js";

function element(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

/** A slider with its name, unit and value; `moved(value)` is called when a person moves it. Names are text, never HTML. */
function dial({ label, unit, low, high, value }, moved) {
  const input = element("input", { type: "range", min: low, max: high, step: "any", value });
  input.setAttribute("aria-label", label);
  const of = unit && unit !== "1" ? ` ${unit}` : "";
  const shown = (number) => tidy(Math.abs(number) < 1e-9 * (high - low) ? 0 : number) + of; // what rounding left of zero is zero
  const output = element("output", { textContent: shown(value) });
  const name = element("span", { className: "name", textContent: label });
  input.addEventListener("input", () => {
    output.textContent = shown(Number(input.value));
    moved(Number(input.value));
  });
  input.show = (now) => {
    if (document.activeElement !== input) input.value = now;
    output.textContent = shown(now);
  };
  return { node: element("label", { className: "dial" }, name, input, output), input };
}

export class Dials {
  /** `acts`: moved() after anything has changed, complain(message), paused(). */
  constructor(holder, simulator, title, acts) {
    this.simulator = simulator;
    this.acts = acts;
    this.card = element("section", { id: "dials", className: "plot" }, element("h2", { textContent: "Simulation" }));
    this.card.setAttribute("aria-label", "Simulation");
    this.sliders = simulator.live.sliders.map((slider, k) => dial(slider, (value) => {
      simulator.set(k, value);
      acts.moved();
    }));
    this.joints = simulator.live.joints.map((joint) => {
      const { name: label, unit, low, high, q } = joint;
      const made = dial({ label, unit, low, high, value: simulator.machine.q[q] }, (value) => {
        acts.paused();
        acts.complain(simulator.slide(joint, value));
        acts.moved();
      });
      return { ...made, joint };
    });
    this.group("What may be set", this.sliders, true);
    this.group("Posture", this.joints, false);
    this.said = element("p", { className: "said" });
    this.said.setAttribute("role", "status");
    const button = (textContent, hint, act) => {
      const node = element("button", { type: "button", textContent, title: hint });
      node.addEventListener("click", act);
      return node;
    };
    this.card.append(
      element("div", { className: "acts" },
        button("CSV", "Save the last minute as a table", () => leave(new Blob([simulator.record.csv()], { type: "text/csv" }), fileName(title, "csv"))),
        button("Link", "Put sliders and state into the address of this page", () => this.link()),
        button("Replay", "Compare with what native code computed when the page was written", () => this.replay())),
      this.said,
    );
    holder.prepend(this.card);
  }

  group(title, dials, open) {
    if (!dials.length) return;
    this.card.append(element("details", { open: open && dials.length <= 12 }, element("summary", { textContent: title }), ...dials.map(({ node }) => node)));
  }

  link() {
    const { link } = this.simulator;
    try {
      history.replaceState(null, "", `#${link}`);
      this.said.textContent = "The address of this page now has the sliders and the state: copy it.";
    } catch {
      this.said.textContent = `Here the page has no address; its file opens there with #${link}`; // in the frame of a notebook
    }
  }

  replay() {
    const { steps, same, away } = replayed(this.simulator.machine);
    const found = same ? "the same bits as native code gave" : `not the same bits: ${away.toExponential(1)} away`;
    this.said.textContent = `${steps} steps from the start: ${found}. Digest ${this.simulator.live.digest.slice(0, 16)}.`;
  }

  /** Shows the values that everything has now. */
  show() {
    this.sliders.forEach(({ input }, k) => input.show(this.simulator.values[k]));
    for (const { input, joint } of this.joints) {
      const now = this.simulator.machine.q[joint.q];
      input.show(joint.turns ? now - 2 * Math.PI * Math.round(now / (2 * Math.PI)) : now);
    }
  }
}
