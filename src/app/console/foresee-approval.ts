import type { Foreseen, ForeseenRun } from '../../admin/ports/surroundings.ts'
import { UpshotError } from '../../core/errors.ts'
import type { Asked } from '../../core/safety/effect.ts'
import { runCommand } from '../play/child/run-command.ts'

const BOUNDS = { withinMs: 120_000, mostBytes: 134_217_728 }
/** Effects of a run that are listed; all are counted. */
const LISTED = 200

/** A run as `upshot approvals show --ahead --json` gives it. */
interface AheadRun {
  run: string
  effects: { class: 'delete' | 'write'; step: string; target: string | null; asked: Asked | null; source: string }[]
  end: { kind: ForeseenRun['end']['kind']; step?: string; reason?: string; error?: { message: string } }
}

/**
 * The effects that held runs would ask for after the list of their approval. Code is played in the
 * process of the command, so no thread of the app waits. Throws `internal` where it has no answer
 * within two minutes, with the message of the command.
 */
export async function foreseeApproval(
  config: Parameters<typeof runCommand>[0],
  approval: string,
  signal: AbortSignal,
): Promise<Foreseen> {
  const args = ['approvals', 'show', approval, '--ahead']
  const { document, error } = await runCommand(config, args, { ...BOUNDS, signal })
  const { ahead, aheadOf } = (document?.data ?? {}) as { ahead?: AheadRun[]; aheadOf?: number }
  if (ahead !== undefined) return { runs: aheadOf ?? ahead.length, ahead: ahead.map(describeRun) }
  const { message = 'The look ahead did not come to an end.' } = document?.error ?? {}
  throw new UpshotError('internal', message, {
    cause: error,
    details: { fix: document?.error?.fix ?? `Run "upshot ${args.join(' ')}" in the folder of the project.` },
  })
}

function describeRun({ run, effects, end }: AheadRun): ForeseenRun {
  return {
    run,
    effects: effects.length,
    bytes: effects.reduce((sum, { asked }) => sum + (asked?.bytes ?? 0), 0),
    list: effects.slice(0, LISTED).map(({ class: kind, step, target, asked }) => ({
      ...{ class: kind, step, target },
      ...{ path: asked?.path ?? null, bytes: asked?.bytes ?? null },
    })),
    end: { kind: end.kind, step: end.step ?? null, reason: end.reason ?? end.error?.message ?? null },
  }
}
