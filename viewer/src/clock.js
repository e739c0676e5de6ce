// The page's one time. Everything that shows it listens here. It is that of a recorded motion, or of one that is simulated.

export class Clock {
  constructor(start, end) {
    this.start = start;
    this.end = end;
    this.time = start;
    this.playing = false;
    this.speed = 1;
    this.looping = true;
    this.listeners = [];
    this.simulator = null; // whose time it is, while there is one
  }

  /** Go with a simulation from now on; with null and an interval, with a recorded motion again. */
  follow(simulator, [start, end, time] = []) {
    this.simulator = simulator;
    Object.assign(this, { playing: false, start, end, time });
    this.changed();
  }

  get duration() {
    return this.end - this.start;
  }

  listen(react) {
    this.listeners.push(react);
    react(this);
  }

  changed() {
    if (this.simulator) {
      const { time, record } = this.simulator;
      Object.assign(this, { time, start: record.start, end: record.end });
    }
    for (const react of this.listeners) react(this);
  }

  seek(time) {
    if (this.simulator) {
      this.simulator.seek(time);
      return this.changed();
    }
    this.time = Math.min(Math.max(time, this.start), this.end);
    this.changed();
  }

  set(values) {
    Object.assign(this, values);
    this.changed();
  }

  toggle() {
    if (this.simulator) return this.set({ playing: !this.playing });
    if (!this.playing && this.time >= this.end) this.time = this.start;
    this.set({ playing: !this.playing && this.duration > 0 });
  }

  /** Let `seconds` of the viewer's time pass. */
  advance(seconds) {
    if (!this.playing) return;
    if (this.simulator) return this.set({ playing: this.simulator.advance(seconds, this.speed) });
    const time = this.time + seconds * this.speed;
    if (time < this.end) return this.seek(time);
    if (this.looping) return this.seek(this.start + ((time - this.start) % this.duration));
    this.set({ time: this.end, playing: false });
  }
}
