import { toJson } from '../../core/json.ts'
import type { AnswerStep } from './first-answer.ts'

/** Answers steps by what their author declares as the result of doing nothing: the option `dry`. */
export function declaredAnswers({ now }: { now: () => number }): AnswerStep {
  return async ({ key, kind }, { effect }) => {
    if (kind !== 'run' || !effect?.dry) return null
    const output = toJson(await effect.dry(), `The \`dry\` result of step "${key}"`)
    return { source: 'declared', outcome: { status: 'completed', error: null, finishedAt: now(), output } }
  }
}
