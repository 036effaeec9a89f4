import type { Checkpoint } from '../../core/runs/step.ts'
import type { FileState } from '../../core/safety/effect.ts'
import type { DeleteOutcome } from '../../core/service/files-api.ts'
import type { StagedEffect, StageOutcome } from '../pass/stage.ts'
import type { Answer, AnswerStep } from './first-answer.ts'

interface Derived {
  now: () => number
  /** Aborts what is read for an answer. */
  signal: AbortSignal
  /** Whether a delete may look at its file; else only a recording answers it. Default true. */
  looks?: boolean
  /** Whether a target is a folder, once it was looked at. Default: none is. */
  isFolder?: (target: string) => boolean
  /** Hears of each delete that would happen. */
  onDelete?: (target: string) => void
}

/**
 * Answers steps whose outcome follows from themselves. Sleeps end at their moment, and an event has
 * the id that it was given. A delete finds its file as it is now.
 */
export function derivedAnswers(parts: Derived): AnswerStep {
  return (step, { send, effect }) => {
    if (step.kind === 'hook')
      return derive({ finishedAt: parts.now(), output: JSON.stringify({ id: step.target, expiresAt: step.dueAt }) })
    if (step.kind === 'sleep') return derive({ finishedAt: step.dueAt ?? parts.now(), output: null })
    if (step.kind === 'schedule') return derive({ finishedAt: parts.now(), output: 'null' })
    if (send) return derive({ finishedAt: parts.now(), output: JSON.stringify({ id: send.id }) })
    if (step.effect === 'delete' && effect?.look && parts.looks !== false) return deriveDelete(parts, step, effect)
    return null
  }
}

/** A delete of a file that the run has read finds it in that state. */
export function assumeDeleted({ now }: Pick<Derived, 'now'>): AnswerStep {
  return ({ effect }, about) => {
    if (effect !== 'delete' || typeof about.effect?.asked?.path !== 'string') return null
    const output = JSON.stringify({ outcome: 'deleted', proof: 'none' })
    return { source: 'derived', outcome: { status: 'completed', error: null, finishedAt: now(), output } }
  }
}

async function deriveDelete(
  { now, signal, isFolder = () => false, onDelete }: Derived,
  { target }: Checkpoint,
  { look, expect, isFolderAllowed }: StagedEffect,
): Promise<Answer | null> {
  const found = (await look?.(signal)) ?? null
  if (target !== null && !isFolderAllowed && isFolder(target)) {
    const message = `${target} is a folder. To delete it with everything in it, set \`allowFolder: true\`.`
    const error = { name: 'InvalidRequestError', message }
    return { source: 'derived', outcome: { status: 'failed', error, output: null, finishedAt: now() } }
  }
  const outcome = decideDelete(found, expect)
  if (outcome.outcome === 'deleted' && target !== null) onDelete?.(target)
  return { ...derive({ finishedAt: now(), output: JSON.stringify(outcome) }), seen: found }
}

/** The outcome that the client's delete would have; see `files/operations/delete.ts`. */
function decideDelete(found: FileState | null, expect: FileState | null): DeleteOutcome {
  if (found === null) return { outcome: 'not_found', proof: 'none' }
  if (expect !== null && !isAsExpected(found, expect)) return { outcome: 'changed', proof: 'none' }
  return { outcome: 'deleted', proof: 'none' }
}

function isAsExpected(found: FileState, { path, bytes, modifiedAt }: FileState): boolean {
  if (path !== null && path !== found.path) return false
  if (bytes !== null && bytes !== found.bytes) return false
  return modifiedAt === null || Date.parse(modifiedAt) === Date.parse(found.modifiedAt ?? '')
}

function derive(outcome: Pick<StageOutcome, 'finishedAt' | 'output'>): Answer {
  return { source: 'derived', outcome: { status: 'completed', error: null, ...outcome } }
}
