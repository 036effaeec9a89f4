import { type Checkpoint, isFinished, numberOf } from '../../core/runs/step.ts'
import type { AnswerStep } from './first-answer.ts'

/** Kinds whose recorded outcome belongs to their target: another one asks for something else. */
const BY_TARGET: readonly string[] = ['wait', 'receive', 'approve', 'send']

/**
 * Answers by the finished steps of a run's journal, wherever the code asks for them. A step of
 * another kind or effect is another step. `readOutput`: reads a result that is stored apart.
 */
export function recordedAnswers(
  steps: readonly Checkpoint[],
  readOutput: (key: string) => Promise<string>,
): AnswerStep {
  const known = new Map(steps.filter(isFinished).map((step) => [step.key, step]))
  return async ({ key, kind, effect, target }, about) => {
    const row = known.get(key)
    if (!row || row.kind !== kind || row.effect !== effect) return null
    if (BY_TARGET.includes(kind) && row.target !== target) return null
    // The journal has no result of such a step.
    if (about.effect?.isKept === false && row.status === 'completed') return null
    const { status, attempt, error, finishedAt } = row
    const output = row.apartBytes === undefined ? row.output : await readOutput(key)
    const outcome = { status: status as 'completed' | 'failed', attempt, error, finishedAt, output }
    return { source: 'recorded', outcome, number: numberOf(row) }
  }
}
