// Buttons that are on or off, and the menu of what is shown.

/** A button that turns something on and off; returns what its key does. */
export function wireToggle(button, initial, apply) {
  let on = initial;
  const show = () => button.setAttribute("aria-pressed", String(on));
  const toggle = () => {
    on = !on;
    show();
    apply(on);
  };
  button.addEventListener("click", toggle);
  show();
  return toggle;
}

export class Menu {
  constructor(details, list) {
    this.list = list;
    addEventListener("pointerdown", (event) => {
      if (!details.contains(event.target)) details.open = false;
    });
    addEventListener("keydown", (event) => {
      if (event.key === "Escape") details.open = false;
    });
  }

  /** One more thing to show; returns what its key does. */
  add(key, name, initial, apply) {
    const label = document.createElement("label");
    const box = Object.assign(document.createElement("input"), { type: "checkbox", checked: initial });
    const hint = Object.assign(document.createElement("kbd"), { textContent: key.toUpperCase() });
    label.append(box, document.createTextNode(name), hint);
    this.list.append(label);
    box.addEventListener("change", () => apply(box.checked));
    return () => {
      box.checked = !box.checked;
      apply(box.checked);
    };
  }
}
