import type { Hook, HookAnswer, HookReceipt, HookRecord } from '../incoming/hook.ts'

export interface HookWrites {
  /** The key of the tokens of all hooks, as text. The first call makes it. */
  loadHookKey(): Promise<string>
  /**
   * Saves an answer as an event, with its delivery and with the runs that it starts, and wakes the
   * runs that wait for it. Throws `conflict` for a person whose answer is not taken.
   */
  answerHook(answer: HookAnswer): Promise<HookReceipt>
}

export interface HookReads {
  /** With its secret, for the receiver. */
  findHook(id: string): Promise<(HookRecord & Pick<Hook, 'sign'>) | null>
  /** The hooks of a run, those that its fork kept included, in the order of their steps. */
  listHooks(runId: string): Promise<HookRecord[]>
}
