import type { Foreseen } from '../../admin/ports/surroundings.ts'
import { UpshotError } from '../../core/errors.ts'
import { runCommand } from '../preview/child/run-command.ts'

const BOUNDS = { withinMs: 120_000, mostBytes: 134_217_728 }

/**
 * The effects that held runs would ask for after the list of their approval. Code is previewed in
 * the process of the command, so no thread of the app waits. Throws `internal` where it has no
 * answer within two minutes, with the message of the command.
 */
export async function foreseeApproval(
  config: Parameters<typeof runCommand>[0],
  approval: string,
  signal: AbortSignal,
): Promise<Foreseen> {
  const args = ['approvals', 'show', approval, '--ahead']
  const { document, error } = await runCommand(config, args, { ...BOUNDS, signal })
  const { foreseen } = (document?.data ?? {}) as { foreseen?: Foreseen }
  if (foreseen !== undefined) return foreseen
  const { message = 'The look ahead did not come to an end.' } = document?.error ?? {}
  throw new UpshotError('internal', message, {
    cause: error,
    details: { fix: document?.error?.fix ?? `Run "upshot ${args.join(' ')}" in the folder of the project.` },
  })
}
