/** A finding of the doctor. */
export interface Check {
  /** `problem`: locks may be lost or fail. `hint`: good to know. `down`: no lock can be taken. */
  readonly status: 'ok' | 'hint' | 'problem' | 'down';
  /** `eviction`, say. */
  readonly about: string;
  readonly message: string;
}
