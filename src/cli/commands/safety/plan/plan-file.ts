import { hash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { z } from 'zod'
import type { PreviewedJob } from '../../../../app/preview/isolated-process.ts'
import { UpshotError } from '../../../../core/errors.ts'
import { parseJson } from '../../../../core/json.ts'
import { chainHash } from '../../../../core/safety/approval.ts'
import { isoTime } from '../../../../core/time.ts'
import { readText } from '../../../input/read-source.ts'

/** Steps of a run that another one invokes are named behind its step. */
const WITHIN = ' › '

const state = z.object({
  path: z.string().nullable(),
  bytes: z.number().nullable(),
  modifiedAt: z.string().nullable(),
  isFolder: z.literal(true).exactOptional(),
  input: z.json().exactOptional(),
})

const planFile = z.object({
  format: z.literal('upshot plan 1'),
  event: z.string(),
  account: z.string(),
  workflow: z.string(),
  codeHash: z.string().nullable(),
  plannedAt: z.string(),
  /** Covers the event, the workflow and each effect, in their order. */
  hash: z.string(),
  effects: z.array(
    z.object({
      class: z.enum(['delete', 'write']),
      step: z.string(),
      target: z.string().nullable(),
      /** State of the file, or content of the write, as the plan saw it. */
      asked: state.nullable(),
    }),
  ),
})

/** The deletes and writes of a plan, as a file keeps them. */
export type PlanFile = z.infer<typeof planFile>

/** The deletes and writes that a plan lists. Throws `conflict` where other runs act, too. */
export function describePlanFile(
  plan: Pick<PreviewedJob, 'effects' | 'undeclared' | 'end'>,
  { now, ...about }: Pick<PlanFile, 'event' | 'account' | 'workflow' | 'codeHash'> & { now: number },
): PlanFile {
  const changes = plan.effects.flatMap(({ class: kind, ...effect }) =>
    kind === 'delete' || kind === 'write' ? [{ ...effect, class: kind }] : [],
  )
  const within = changes.find(({ step }) => step.includes(WITHIN))
  if (within) throw refuse(`"${within.step}" is an effect of another run, which it invokes`)
  if (plan.end.kind === 'continued') throw refuse('it goes on in another run, by step.continueAs')
  const [refused] = plan.undeclared
  if (refused) throw refuse(`the code acts where nothing declares it (${refused.call})`)
  const effects = changes.map(({ class: kind, step, target, asked }) => ({ class: kind, step, target, asked }))
  const hash = hashPlan({ ...about, effects })
  return { format: 'upshot plan 1', ...about, plannedAt: isoTime(now), hash, effects }
}

export function writePlanFile(path: string, plan: PlanFile): void {
  writeFileSync(path, `${JSON.stringify(plan, null, 2)}\n`, { mode: 0o600 })
}

/** Throws `invalid_request` for a file that is no plan, or that was changed since. */
export function readPlanFile(path: string): PlanFile {
  const plan = planFile.safeParse(parseJson(readText(path)))
  if (!plan.success) throw describeFault(path, 'it is no plan')
  if (hashPlan(plan.data) !== plan.data.hash) throw describeFault(path, 'it was changed since it was saved')
  return plan.data
}

function hashPlan({ event, account, workflow, effects }: Omit<PlanFile, 'format' | 'plannedAt' | 'hash'>): string {
  const seed = hash('sha256', JSON.stringify(['plan', event, account, workflow]))
  return effects.reduce((before, item) => chainHash(before, { ...item, runId: '' }), seed)
}

function describeFault(path: string, why: string): UpshotError {
  const fix = 'Make one with "upshot plan <event> --save <file>".'
  return new UpshotError('invalid_request', `Cannot use the plan in ${path}: ${why}.`, { fix })
}

function refuse(why: string): UpshotError {
  return new UpshotError('conflict', `This plan cannot be saved: ${why}.`, {
    details: { fix: 'A saved plan is for the effects of one run. Plan that other code by itself.' },
  })
}
