import { type Command, Option } from '@commander-js/extra-typings'
import { refuse, UpshotError } from '../../../core/errors.ts'
import type { RunOperation } from '../../../core/runs/run.ts'
import { planFork } from '../../../core/runs/step.ts'
import type { Cli } from '../../command.ts'
import { parseJsonOption } from '../../input/parse-option.ts'
import { call, type Operations } from '../../open/operations.ts'
import { isDryRun } from '../../operate/act-command.ts'
import { describeRefusals, performOperation } from '../../operate/perform-operation.ts'
import { confirm } from '../../terminal/confirm.ts'
import type { Output } from '../../terminal/output.ts'
import { addRunTargets, describeChoice, readIds, readRunChoice } from './select-runs.ts'

export function cancel(command: Command, cli: Cli): void {
  addRunTargets(command).action((ids, options) =>
    operateOnRuns(cli, { kind: 'cancel', done: 'canceled' }, { ids, options }),
  )
}

export function retry(command: Command, cli: Cli): void {
  addRunTargets(command)
    .addHelpText('after', '\nTo start from an earlier step, fork the run: upshot runs fork <id> --from-step <step>')
    .action((ids, options) => operateOnRuns(cli, { kind: 'retry', done: 'retried' }, { ids, options }))
}

const RESUME = { kind: 'resume', done: 'resumed' } as const
const WAKE = {
  kind: 'resume',
  verb: 'end the sleep of',
  done: 'woken',
  body: { skipSleep: true },
  isOfNamed: true,
} as const
const RESTART = {
  kind: 'restart',
  verb: 'restart from scratch',
  done: 'restarted',
  body: { fromScratch: true },
  isDestructive: true,
} as const

export function resume(command: Command, cli: Cli): void {
  addRunTargets(command)
    .addOption(
      new Option('--restart', 'discard all steps and start again; effects are repeated').conflicts('skipSleep'),
    )
    .option('--skip-sleep', 'end the sleep of the named runs now, or the pause before the next attempt of a step')
    .action((ids, { restart, skipSleep, ...options }) =>
      operateOnRuns(cli, skipSleep ? WAKE : restart ? RESTART : RESUME, { ids, options }),
    )
}

const RESOLVE = { kind: 'resolve', done: 'resolved' } as const
const UNDO = { kind: 'unresolve', verb: 'take back the resolution of', done: 'no longer resolved' } as const

export function resolve(command: Command, cli: Cli): void {
  addRunTargets(command)
    .option('--undo', 'take it back: the runs count as failures again')
    .action((ids, { undo, ...options }) => {
      if (!undo && cli.project.operator.reason === null) {
        const fix = 'Say what was done: upshot runs resolve <id> --reason "copied by hand"'
        throw refuse('Resolving a run needs a reason, and none was given.', fix)
      }
      return operateOnRuns(cli, undo ? UNDO : RESOLVE, { ids, options })
    })
}

const MAX_STEPS = 5_000

export function fork(command: Command, { out, project }: Cli): void {
  command
    .argument('<id>', 'id of the run to fork, run_…, or its beginning')
    .requiredOption('--from-step <step>', 'first step to run again, as named by "upshot runs show <id>"')
    .option('--set-output <json>', 'do not run that step; use this JSON as its result', parseJsonOption)
    .action((id, { fromStep, setOutput: output }) =>
      project.withOperations(async (operations) => {
        const params = { id }
        if (out.given.dryRun) {
          const { items } = await call(operations, 'GET /runs/:id/steps', { params, query: { limit: MAX_STEPS } })
          const keeps = planFork(items, fromStep)
          await isDryRun(out, { will: `fork ${id} with ${keeps.length} finished steps`, things: keeps })
          return
        }
        const run = await call(operations, 'POST /runs/:id/fork', { params, body: { fromStep, output } })
        out.result(run, () => [`${run.id} continues from step "${fromStep}" of ${run.originRun}.`])
        out.note(`Show the run: upshot runs show ${run.id}`)
      }),
    )
}

/** Named runs that are changed side by side. */
const SLICE = 20

interface RunWork {
  kind: RunOperation
  /** Fields of its body beside the reason. */
  body?: { fromScratch?: boolean; skipSleep?: boolean }
  /** The word for it in a question, such as `retry`. Default: its kind. */
  verb?: string
  /** The word for it in a report, such as `retried`. */
  done: string
  /** Ask for a confirmation even if runs are named by id. */
  isDestructive?: boolean
  /** It is done to named runs alone. */
  isOfNamed?: boolean
}

/** Does it to the named runs at once, or to all selected ones, as a tracked operation. */
async function operateOnRuns(
  { out, project }: Pick<Cli, 'out' | 'project'>,
  work: RunWork,
  { ids, options }: { ids: readonly string[]; options: Record<string, unknown> },
): Promise<void> {
  const choice = readRunChoice(options)
  const isSelected = Object.keys(choice).length > 0
  if (ids.length > 0 === isSelected || (isSelected && work.isOfNamed)) {
    const fix = 'For example: "run_1", or "--status failed --since 1h".'
    throw refuse('Give either ids of runs or options that select them.', fix)
  }
  await project.withOperations(async (operations) => {
    if (!isSelected) return operateOnNamed(out, work, { operations, ids })
    const { kind, verb = kind, done } = work
    const perSecond = (options.perSecond as number | undefined) ?? null
    const describe = ({ total }: { total: number }) => `${verb} ${countRuns(total)} (${describeChoice(choice)})`
    const body = { kind, filter: choice, perSecond }
    await performOperation(out, operations, { name: 'POST /operations', body, things: 'Runs', done, describe })
  })
}

async function operateOnNamed(
  out: Output,
  { kind, verb = kind, ...work }: RunWork,
  { operations, ids }: { operations: Operations; ids: readonly string[] },
): Promise<void> {
  const act = kind === 'restart' ? 'resume' : kind
  const named = await readIds(ids, 'runs')
  const perform = (body: object) => async (id: string) => {
    const name = `POST /runs/:id/${act}` as const
    const { id: run, workflow, status } = await call(operations, name, { params: { id }, body } as never)
    return { run, workflow, status }
  }
  if (work.isDestructive || out.given.dryRun) {
    const { done } = await ask(named, perform({ ...work.body, isDryRun: true }))
    const things = done.map(({ run, workflow, status }) => `${run}  ${workflow}  ${status}`)
    const will = `${verb} ${countRuns(done.length)}`
    if (!(await confirm(out, { will, things }))) {
      const first = done.map(({ run }) => run)
      const data = { kind, dryRun: true, matched: done.length, first }
      return out.result(data, () => [`This would ${will}.`])
    }
  }
  const { done, refused } = await ask(named, perform({ ...work.body }))
  const refusals = refused.map(({ id, error }) => ({ target: id, why: error.message }))
  const runs = [
    ...done.map(({ run, workflow }) => ({ run, workflow, done: true, why: null })),
    ...refusals.map(({ target, why }) => ({ run: target, workflow: null, done: false, why })),
  ]
  out.result({ kind, dryRun: false, done: done.length, refused: refused.length, runs }, () => [
    `${countRuns(done.length)} ${work.done}${refused.length === 0 ? '.' : `, ${refused.length} refused.`}`,
    ...describeRefusals(refused.length, refusals),
  ])
  if (refused.length > 0) out.leaveWith('failed')
}

/** Asks for each of the runs. Throws where none could be done; an unknown run ends the command. */
async function ask<Answer>(ids: readonly string[], perform: (id: string) => Promise<Answer>) {
  const done: Answer[] = []
  const refused: { id: string; error: UpshotError }[] = []
  for (let from = 0; from < ids.length; from += SLICE) {
    const slice = ids.slice(from, from + SLICE).map(async (id) => {
      try {
        done.push(await perform(id))
      } catch (error) {
        if (!(error instanceof UpshotError && error.code === 'conflict')) throw error
        refused.push({ id, error })
      }
    })
    await Promise.all(slice)
  }
  const [first] = refused
  if (done.length === 0 && first) throw first.error
  return { done, refused }
}

function countRuns(count: number): string {
  return `${count} ${count === 1 ? 'run' : 'runs'}`
}

export function answer(command: Command, { out, project }: Cli): void {
  command
    .argument('<run>', 'id of the run, run_…, or its beginning')
    .argument('<hook>', 'step that opened the hook, or its id, as "upshot runs show <run>" names them')
    .option('--data <json>', 'the answer as JSON; default null', parseJsonOption)
    .action((run, named, { data = null }) =>
      project.withOperations(async (operations) => {
        const { items } = await call(operations, 'GET /hooks', { query: { run } })
        const hook = items.find(({ id, step }) => step === named || id === named)
        if (hook === undefined) {
          const known = items.map(({ step }) => `"${step}"`).join(', ')
          const fix = known === '' ? 'It has no hooks.' : `It has: ${known}.`
          throw new UpshotError('not_found', `Run ${run} has no hook "${named}".`, { fix })
        }
        const question = hook.ask === null ? '' : `, which asks: ${hook.ask}`
        const will = `answer hook "${hook.step}" of run ${hook.runId}${question}`
        if (await isDryRun(out, { will, things: [JSON.stringify(data)] })) return
        const answered = await call(operations, 'POST /hooks/:id/answer', { params: { id: hook.id }, body: { data } })
        out.result(answered, () => [`Answered hook "${answered.step}" of run ${answered.runId}.`])
      }),
    )
}
