import { z } from 'zod'
import { defineRoutes, time } from '../../route.ts'

export const hook = z
  .object({
    id: z.string().describe('`hok_…`; no secret.'),
    runId: z.string().describe('The run that opened it; its forks have it, too.'),
    step: z.string(),
    state: z
      .enum(['open', 'answered', 'expired', 'ended'])
      .describe('`ended`: every run that has it has ended. Only an open one takes an answer.'),
    ask: z.string().nullable().describe('The question for people; null: it is for a program.'),
    data: z.unknown().describe('JSON Schema of an answer; null: any JSON will do.'),
    isMany: z.boolean().describe('True: it takes any number of answers.'),
    isSigned: z.boolean().describe('True: an answer to its URL must be signed.'),
    answers: z.int(),
    address: z.string().describe('Its address at the receiver, without the part that lets answer.'),
    openedAt: time(),
    expiresAt: time(),
  })
  .meta({ id: 'Hook' })

export const HOOK_ROUTES = defineRoutes({
  'GET /hooks': {
    id: 'listHooks',
    summary: 'The callback URLs of a run, in the order of their steps',
    query: { run: z.string().describe('Id of the run, or its beginning.') },
    answer: z.object({ items: z.array(hook) }),
  },
  'POST /hooks/:id/answer': {
    id: 'answerHook',
    summary: 'Answers a callback URL in place of its sender; the run goes on',
    body: {
      data: z.unknown().optional().describe('The answer, as the hook asks for it. Default null.'),
    },
    answer: hook,
    audit: 'hook.answer',
  },
})
