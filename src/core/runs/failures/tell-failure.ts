import type { Failure } from '../../errors.ts'

/** A failure in one line: its step and the reason, without the words that say the step again. */
export function tellFailure({ step, message }: Pick<Failure, 'step' | 'message'>): string {
  if (step === undefined) return message
  const before = `step "${step}" failed after `
  const reason = message.startsWith(before) ? message.slice(before.length).replace(/^\d+ attempts?: /, '') : message
  return `${step}: ${reason}`
}
