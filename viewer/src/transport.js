// The bar below: play, speed, loop, the timeline, and the keyboard.

const SECONDS_A_PRESS = 1 / 100; // of the whole duration

export function wireTransport(clock, toggles) {
  const find = (id) => document.getElementById(id);
  const [play, line, speed, loop, now, end] = ["play", "line", "speed", "loop", "now", "end"].map(find);
  const places = Math.min(Math.max(3 - Math.ceil(Math.log10(clock.duration || 1)), 1), 5);
  now.style.minWidth = `${clock.end.toFixed(places).length}ch`;
  line.step = "any";

  play.addEventListener("click", () => clock.toggle());
  loop.addEventListener("click", () => clock.set({ looping: !clock.looping }));
  line.addEventListener("input", () => clock.seek(Number(line.value)));
  speed.addEventListener("change", () => clock.set({ speed: Number(speed.value) }));
  clock.listen(() => {
    const { simulator } = clock;
    const pace = simulator && clock.playing && simulator.pace.part < 0.95 ? `, ${Math.round(100 * simulator.pace.part)} % of real time` : "";
    end.textContent = simulator ? `s${pace}` : `/ ${clock.end.toFixed(places)} s`;
    Object.assign(line, { min: clock.start, max: clock.end });
    const part = clock.duration ? (clock.time - clock.start) / clock.duration : 0;
    line.value = clock.time;
    line.style.setProperty("--part", part);
    line.setAttribute("aria-valuetext", `${clock.time.toFixed(places)} seconds`);
    now.textContent = `${clock.time.toFixed(places)}`;
    play.dataset.playing = clock.playing;
    play.setAttribute("aria-label", clock.playing ? "Pause" : "Play");
    loop.setAttribute("aria-pressed", String(clock.looping));
  });

  const step = (count) => {
    clock.set({ playing: false });
    if (clock.simulator && count > 0 && clock.time >= clock.end) {
      clock.simulator.step(count);
      clock.simulator.keep(true);
      return clock.changed();
    }
    clock.seek(clock.time + count * SECONDS_A_PRESS * clock.duration);
  };
  find("stepper").addEventListener("click", () => step(1));
  const keys = {
    " ": () => clock.toggle(),
    k: () => clock.toggle(),
    ArrowLeft: (event) => step(event.shiftKey ? -10 : -1),
    ArrowRight: (event) => step(event.shiftKey ? 10 : 1),
    Home: () => clock.seek(clock.start),
    End: () => clock.seek(clock.end),
    l: () => clock.set({ looping: !clock.looping }),
    ...toggles,
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, .dial input")) return;
    if (event.key === " " && event.target.matches("button, summary")) return; // it presses the button
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act(event);
  });
  // a button pressed with the pointer does not keep the space bar for itself
  addEventListener("pointerup", () => document.activeElement?.matches("button, input") && document.activeElement.blur());
}
