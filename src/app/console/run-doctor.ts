import type { DoctorFinding } from '../../admin/ports/surroundings.ts'
import { UpshotError } from '../../core/errors.ts'
import { runCommand } from '../preview/child/run-command.ts'

const BOUNDS = { withinMs: 60_000, mostBytes: 1_000_000 }

/**
 * The findings of `upshot doctor` about this project. A check that hangs holds up nothing here.
 * Throws `internal` after a minute.
 */
export async function runDoctor(
  config: Parameters<typeof runCommand>[0],
  signal: AbortSignal,
): Promise<DoctorFinding[]> {
  // It exits with 7 where a check fails, which is an answer.
  const { document, error } = await runCommand(config, ['doctor'], { ...BOUNDS, signal })
  const { findings } = (document?.data ?? {}) as { findings?: DoctorFinding[] }
  if (findings !== undefined) return findings
  throw new UpshotError('internal', 'The doctor did not come to an end.', {
    cause: error,
    details: { fix: 'Run "upshot doctor" in the folder of the project: it shows how far it comes.' },
  })
}
