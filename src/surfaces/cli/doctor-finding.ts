/** What the doctor says of one thing. */
export interface Finding {
  name: string;
  state: 'ok' | 'note' | 'bad';
  message: string;
  hint?: string;
}
