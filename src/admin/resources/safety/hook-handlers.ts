import type { z } from 'zod'
import { UpshotError } from '../../../core/errors.ts'
import { CALLBACK_PATH, type HookRecord, stateOf } from '../../../core/incoming/hook.ts'
import { planWord } from '../../../core/incoming/plan-word.ts'
import { isoTime } from '../../../core/time.ts'
import type { HOOK_ROUTES, hook as hookSchema } from '../../contract/resources/safety/hooks.ts'
import type { Handlers } from '../../perform/handler.ts'
import { requireRun } from '../../queries/require-row.ts'
import type { ResourceParts } from '../parts.ts'

type HookView = z.input<typeof hookSchema>

/** Digits of an id that an address shows. */
const SHOWN = 8

/** The callback URLs of runs, and the answers of persons. */
export function hookHandlers({ store }: ResourceParts): Handlers<keyof typeof HOOK_ROUTES> {
  const require = async (id: string) => {
    const found = await store.findHook(id)
    if (found) return found
    const fix = 'See the hooks of a run with "upshot runs show <run>".'
    throw new UpshotError('not_found', `There is no hook ${id}.`, { fix })
  }
  return {
    async 'GET /hooks'({ query, now }) {
      const hooks = await store.listHooks((await requireRun(store, query.run)).id)
      return { items: hooks.map((hook) => describeHook(hook, now)) }
    },
    async 'POST /hooks/:id/answer'({ params, body, operator, writes, now }) {
      const { data = null } = body
      const answer = planWord(await require(params.id), { data, by: operator.actor, now })
      await writes.answerHook(answer)
      return describeHook(await require(params.id), now)
    },
  }
}

export function describeHook(hook: HookRecord, now: number): HookView {
  const { id, runId, step, ask, data, isMany, isSigned, answers } = hook
  return {
    id,
    runId,
    step,
    state: stateOf(hook, now),
    ask,
    data,
    isMany,
    isSigned,
    answers,
    address: `${CALLBACK_PATH}${id.slice('hok_'.length).slice(0, SHOWN)}…`,
    openedAt: isoTime(hook.openedAt),
    expiresAt: isoTime(hook.expiresAt),
  }
}
