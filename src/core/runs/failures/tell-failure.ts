/** A failure in one line: its step and the reason, without the words that say the step again. */
export function tellFailure({ step, message }: { step?: string | undefined; message: string }): string {
  if (step === undefined) return message
  const before = `step "${step}" failed after `
  const reason = message.startsWith(before) ? message.slice(before.length).replace(/^\d+ attempts?: /, '') : message
  return `${step}: ${reason}`
}
