// The page's one time. Everything that shows it listens here.

export class Clock {
  constructor(start, end) {
    this.start = start;
    this.end = end;
    this.time = start;
    this.playing = false;
    this.speed = 1;
    this.looping = true;
    this.listeners = [];
  }

  get duration() {
    return this.end - this.start;
  }

  listen(react) {
    this.listeners.push(react);
    react(this);
  }

  changed() {
    for (const react of this.listeners) react(this);
  }

  seek(time) {
    this.time = Math.min(Math.max(time, this.start), this.end);
    this.changed();
  }

  set(values) {
    Object.assign(this, values);
    this.changed();
  }

  toggle() {
    if (!this.playing && this.time >= this.end) this.time = this.start;
    this.set({ playing: !this.playing && this.duration > 0 });
  }

  /** Let `seconds` of the viewer's time pass. */
  advance(seconds) {
    if (!this.playing) return;
    const time = this.time + seconds * this.speed;
    if (time < this.end) return this.seek(time);
    if (this.looping) return this.seek(this.start + ((time - this.start) % this.duration));
    this.set({ time: this.end, playing: false });
  }
}
