import type { Command } from '@commander-js/extra-typings'
import { SCHEDULE_ROUTES } from '../../admin/contract/resources/schedules.ts'
import type { AnswerOf } from '../../admin/contract/routes.ts'
import { UpshotError } from '../../core/errors.ts'
import type { Cli } from '../command.ts'
import { countUpTo, gather, parseJsonOption } from '../input/parse-option.ts'
import { readText } from '../input/read-source.ts'
import { call } from '../open/operations.ts'
import { actCommand } from '../operate/act-command.ts'
import { listCommand } from '../operate/list-command.ts'
import { addSchemaOptions } from '../operate/schema-options.ts'
import { formatMoment } from '../terminal/format-value.ts'
import type { Output } from '../terminal/output.ts'

const NAME = ['name', 'name or id of a schedule; of a cron line in code, the id of its workflow'] as const

type Shown = AnswerOf<'GET /schedules/:name'>

export const list = listCommand(SCHEDULE_ROUTES, 'GET /schedules', {
  columns: [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'STARTS', value: describeTarget },
    { title: 'WHEN', value: describeTimes, most: 60 },
    { title: 'ZONE', value: ({ timezone }) => timezone },
    { title: 'ACCOUNTS', value: describeAccounts, most: 40 },
    { title: 'LAST', value: ({ lastTickAt }) => formatMoment(lastTickAt) },
    { title: 'NEXT', value: ({ nextAt }) => formatMoment(nextAt) },
    {
      title: 'STATE',
      value: describeState,
      style: (schedule) => (describeState(schedule) === 'paused' ? 'yellow' : null),
    },
    { title: 'OWNER', value: ({ owner }) => owner },
    { title: 'UNFINISHED', value: ({ unfinished }) => unfinished, align: 'right' },
    { title: 'MISSED', value: ({ missed }) => missed, align: 'right' },
    { title: 'SKIPPED', value: ({ skipped }) => skipped, align: 'right' },
    { title: 'SUPPRESSED', value: ({ suppressed }) => suppressed, align: 'right' },
  ],
  empty: 'There is no schedule. Write "on: cron(…)" in a workflow, or add one with "schedules add".',
  noMatch: 'No schedule matches.',
  what: 'schedules',
})

export const show = actCommand('GET /schedules/:name', {
  argument: NAME,
  done: (schedule, _, { out }) => formatSchedule(schedule, out),
})

export const add = actCommand('POST /schedules', {
  argument: ['name', 'its name: letters, digits and ". _ : @ -"'],
  options: (command) =>
    addOptions(command).requiredOption('--workflow <id>', 'what it starts: a workflow with `on: callable(…)`'),
  tries: true,
  body: ({ workflow, ...options }, name) => ({ name, workflow, ...readOptions(options) }),
  done: (schedule, name, { out }) => [`Added the schedule "${name}".`, '', ...formatSchedule(schedule, out)],
})

export const edit = actCommand('PATCH /schedules/:name', {
  argument: NAME,
  options: addOptions,
  tries: true,
  body: (options) => readOptions(options),
  done: (schedule, name, { out }) => [`Changed the schedule "${name}".`, '', ...formatSchedule(schedule, out)],
})

export const remove = actCommand('DELETE /schedules/:name', {
  argument: NAME,
  look: 'GET /schedules/:name',
  will: (name) => `remove the schedule "${name}"`,
  asks: (found) => [`it starts nothing more: ${describeTarget(found)}`, 'its runs are kept'],
  done: (_, name) => `Removed the schedule "${name}".`,
})

export const pause = actCommand('POST /schedules/:name/pause', {
  argument: NAME,
  look: 'GET /schedules/:name',
  will: (name) => `pause the schedule ${name}`,
  done: (_, name, { found }) => `The schedule ${name} ${found.pausedAt === null ? 'is now' : 'was already'} paused.`,
})

export const resume = actCommand('POST /schedules/:name/resume', {
  argument: NAME,
  look: 'GET /schedules/:name',
  will: (name) => `resume the schedule ${name}`,
  done: (_, name, { found }) => `The schedule ${name} ${found.pausedAt !== null ? 'is now' : 'was already'} active.`,
})

export const run = actCommand('POST /schedules/:name/run', {
  argument: NAME,
  help: "Its run waits for an unfinished one, unless the schedule has `overlap: 'allow'`.",
  options: (command) => command.option('--account <name>', 'only for this account (default: each of the schedule)'),
  look: 'GET /schedules/:name',
  will: (name) => `run the schedule ${name} now`,
  body: ({ account }) => ({ account }),
  data: ({ items }) => items,
  done: ({ items }) => items.map(({ id }) => id),
  note: ({ items: [first] }) => (first === undefined ? null : `Show the run: upshot runs show ${first.id}`),
})

export function backfill(command: Command, cli: Cli): void {
  command
    .requiredOption('--from <time>', 'the first moment that may be among them: 2026-11-01, or with a time and offset')
    .requiredOption('--to <time>', 'the last one')
    .option('--per-minute <n>', 'moments per minute', countUpTo(6_000), 10)
    .argument('<name>', NAME[1])
    .action((name, { from, to, perMinute }) => fill(cli, name, { from: readTime(from), to: readTime(to), perMinute }))
}

function fill({ out, project }: Cli, name: string, given: { from: string; to: string; perMinute: number }) {
  const { perMinute, ...query } = given
  return project.withOperations(async (operations) => {
    const params = { name }
    const foreseen = await call(operations, 'GET /schedules/:name/backfill', { params, query })
    const left = foreseen.moments - foreseen.ran
    const will = `make ${left} ticks of ${name}, ${perMinute} a minute: about ${Math.ceil(left / perMinute)} minutes`
    const things = [
      `${foreseen.moments} moments, from ${foreseen.first ?? '–'} to ${foreseen.last ?? '–'}`,
      `${foreseen.ran} of them ran before, and are passed over`,
    ]
    if (out.given.dryRun) {
      return out.result({ dryRun: true, will, ...foreseen }, () => [`This would ${will}.`, ...things])
    }
    const made = await call(operations, 'POST /schedules/:name/backfill', { params, body: given })
    out.result(made, () => [`Began the backfill "${made.name}".`, ...things])
    out.note(`Follow it: upshot schedules show ${made.name}`)
  })
}

/** A day is its first moment in UTC. */
function readTime(text: string): string {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text
}

type ScheduleOptions = ReturnType<ReturnType<typeof addOptions>['opts']>

/** Adds the options with which `add` and `edit` say what a schedule does. */
function addOptions(command: Command) {
  addSchemaOptions(command, SCHEDULE_ROUTES['PATCH /schedules/:name'].body, {
    without: ['input', 'accounts', 'isDryRun', 'reason'],
  })
  return command
    .option('--input <json>', 'input of the workflow as JSON (a new one: null)', parseJsonOption)
    .option('--file <file>', 'file with the input as JSON')
    .option('--account <name>', 'account that it acts for; may be repeated (a new one: default)', gather)
    .option('--each-account', 'a run for every account that exists at the moment')
}

function readOptions({ account, eachAccount, file, input, ...rest }: ScheduleOptions) {
  if (account !== undefined && eachAccount) throw refuse('Give --account or --each-account, not both.')
  if (file !== undefined && input !== undefined) throw refuse('Give --input or --file, not both.')
  const accounts = eachAccount ? 'each' : account
  return { ...rest, accounts, input: file === undefined ? input : parseJsonOption(readText(file)) }
}

function refuse(message: string): UpshotError {
  return new UpshotError('invalid_request', message)
}

/** Its moments, in a few words. */
function describeTimes({ kind, expression, at, from, to, perMinute }: Shown): string {
  if (kind === 'cron') return expression ?? ''
  return kind === 'once' ? `once at ${at}` : `${expression} from ${from} to ${to}, ${perMinute} a minute`
}

function describeTarget({ workflow, sends }: Shown): string {
  return workflow ?? `sends ${sends}`
}

function describeAccounts({ accounts }: Shown): string {
  return accounts === 'each' ? accounts : accounts.join(', ')
}

function describeState({ pausedAt, doneAt }: Shown): string {
  return doneAt === null ? (pausedAt === null ? 'active' : 'paused') : 'done'
}

function formatSchedule(schedule: Shown, out: Output): string[] {
  const { owner, madeBy, timezone, catchUp, overlap, next, lastRun } = schedule
  const counts = `${schedule.missed} missed, ${schedule.skipped} skipped, ${schedule.suppressed} suppressed`
  return [
    out.paint('bold', schedule.name),
    `  starts    ${describeTarget(schedule)}`,
    `  when      ${describeTimes(schedule)}${timezone === null ? '' : ` (${timezone})`}`,
    `  rules     catch-up ${catchUp}, overlap ${overlap}`,
    `  accounts  ${describeAccounts(schedule)}`,
    ...(schedule.input === null ? [] : [`  input     ${JSON.stringify(schedule.input)}`]),
    `  made by   ${owner === 'module' ? `the module ${madeBy}` : madeBy}`,
    `  state     ${describeState(schedule)}`,
    `  last      ${formatMoment(schedule.lastTickAt) ?? '–'}${lastRun === null ? '' : `, ${lastRun}`}`,
    `  counted   ${counts}, ${schedule.unfinished} unfinished`,
    ...next.map((moment, index) => `  ${index === 0 ? 'next' : '    '}      ${formatMoment(moment)}`),
  ]
}
