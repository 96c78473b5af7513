export interface DoctorFinding {
  name: string;
  state: 'ok' | 'note' | 'bad';
  message: string;
  hint?: string;
}
