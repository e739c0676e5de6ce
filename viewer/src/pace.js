// Whether this machine draws fast enough: asked once, over the first pictures of a motion that plays.

const PICTURES = 60;
const SLOW = 50; // ms between pictures: under 20 a second

export class Pace {
  constructor(slow) {
    this.slow = slow;
    this.watching = true;
    this.gaps = [];
  }

  /** So many milliseconds have passed since the last picture. */
  note(gap) {
    if (!this.watching || document.hidden || gap > 1000) return;
    this.gaps.push(gap);
    if (this.gaps.length < PICTURES) return;
    this.watching = false;
    const middle = this.gaps.sort((a, b) => a - b)[PICTURES / 2];
    if (middle > SLOW) this.slow();
  }
}
