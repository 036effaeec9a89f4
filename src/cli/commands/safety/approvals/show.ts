import type { Command } from '@commander-js/extra-typings'
import type { AnswerOf } from '../../../../admin/contract/routes.ts'
import type { Foreseen } from '../../../../admin/ports/surroundings.ts'
import { describeEnd } from '../../../../app/preview/describe-preview.ts'
import { UpshotError } from '../../../../core/errors.ts'
import { QUESTION } from '../../../../core/safety/approval.ts'
import { type ApprovalProof, CHANGED_LIST } from '../../../../core/safety/votes/approval-proof.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../command-clock.ts'
import { call, type Operations } from '../../../open/operations.ts'
import { formatBytes, formatMoment, formatText } from '../../../terminal/format-value.ts'
import { onInterrupt } from '../../../terminal/on-interrupt.ts'
import type { Output } from '../../../terminal/output.ts'
import { type Column, formatRows, formatTable, type Layout } from '../../../terminal/table.ts'
import { openCode, openLiveReads } from '../open-code.ts'
import { type ApprovalItem, readProof } from './decide.ts'
import { describeApproval } from './list.ts'

type Approval = AnswerOf<'GET /approvals/:id'>
type ApprovalQuestion = NonNullable<Approval['question']>

const SHOWN = 50
const EVERY_ITEM = 1_000_000

export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<id>', 'id of the approval, apr_…, or its beginning')
    .option('--all', `list every item, not only the first ${SHOWN}`)
    .option('--ahead', 'preview how its runs go on, and show what they would still ask for after this list')
    .action((id, { all = false, ahead: isAhead = false }) =>
      project.withOperations(async (operations) => {
        const approval = await call(operations, 'GET /approvals/:id', { params: { id } })
        const isWhole = all || out.given.json || out.given.ndjson
        const { proof, items: list } = await readProof(operations, approval)
        requireHashed(approval, proof)
        const items = list.filter(({ number }) => number > QUESTION).slice(0, isWhole ? EVERY_ITEM : SHOWN)
        const found = isAhead ? await foresee(out, operations, approval) : null
        const about = { ...approval, list: items.map(describeItem) }
        out.result({ ...about, ...(found && { foreseen: found }) }, () => [
          ...formatApproval(approval, items, out),
          ...(found === null ? [] : formatAhead(found, out)),
        ])
        if (approval.status === 'open') out.note(adviseDecision(approval))
        if (found?.ahead.some(({ end }) => end.kind === 'open')) out.leaveWith('unknown')
      }),
    )
}

/** A person names the hash of what they see, not one that the database says. */
function requireHashed({ id, hash }: Approval, proof: ApprovalProof): void {
  // The list may have grown since its hash was read.
  if (proof.find(hash).length > 0) return
  throw new UpshotError('conflict', `Approval ${id} cannot be shown: ${CHANGED_LIST}.`, {
    fix: `Somebody changed the database. Deny it: "upshot approvals deny ${id}".`,
  })
}

/** An item for JSON. */
function describeItem({ number, runId, step, target, asked, hash, state }: ApprovalItem) {
  const { path = null, bytes = null, modifiedAt = null, isFolder = false, input = null } = asked ?? {}
  const file = { target, path, bytes, modifiedAt, isFolder }
  return { number, ...file, input: input === null ? null : JSON.stringify(input), run: runId, step, hash, state }
}

function formatApproval(approval: Approval, items: readonly ApprovalItem[], { paint, width }: Layout): string[] {
  const { kind, status, question, votes } = approval
  const rest = approval.items - items.length
  return [
    `${paint('bold', approval.id)}  ${status}${status === 'open' ? `, until ${formatMoment(approval.expiresAt)}` : ''}`,
    formatText(describeApproval(approval)),
    ...(items.length > 0 ? [`${describeItems(approval)}.`] : []),
    ...(question === null ? [] : formatQuestion(question)),
    '',
    ...(items.length > 0 ? formatTable(items, kind === 'repair' ? REPAIR_COLUMNS : COLUMNS, { paint, width }) : []),
    ...(rest > 0 ? [`… and ${rest} more: add --all`] : []),
    ...(kind !== 'repair' && items.some(isUnknown) ? [UNKNOWN] : []),
    ...(items.some(({ asked }) => asked?.isFolder) ? [FOLDER] : []),
    ...votes.map(
      ({ actor, verdict, at, reason, isSigned }) =>
        `${actor} ${verdict} it at ${formatMoment(at)}${isSigned ? ', signed' : ''}: ${formatText(reason ?? '–')}`,
    ),
    `hash  ${approval.hash.slice(0, 8)}`,
  ]
}

const UNKNOWN = 'The service gave no size or date of some files. Each is deleted if the rest of what you see fits.'

const FOLDER = 'A folder goes with everything in it.'

/** True for a file of which a part is not known, so that nothing compares it. */
function isUnknown({ asked }: ApprovalItem): boolean {
  if (asked === null || asked.path === null || asked.isFolder) return false
  return asked.bytes === null || asked.modifiedAt === null
}

function sizeOf({ bytes, isFolder }: { bytes: number | null; isFolder?: boolean }): string | null {
  return isFolder ? 'folder' : formatBytes(bytes)
}

/** A file by its path; a write by what its author says it is made of. */
function nameItem({ asked, target }: ApprovalItem): string | null {
  return asked?.path ?? (asked?.input === undefined ? target : JSON.stringify(asked.input))
}

function describeItems({ kind, items, openItems, runs, bytes, account }: Approval): string {
  if (kind === 'repair') return `It makes up ${openItems} of ${items} events, account ${account}`
  const whose = runs === 1 ? '1 run' : `${runs} runs`
  return `${openItems} of ${items} items of ${whose}, ${formatBytes(bytes)}, account ${account}`
}

/** A repair has no runs: its items are events, by type. */
const REPAIR_COLUMNS: Column<ApprovalItem>[] = [
  { title: '#', value: ({ number }) => number, align: 'right' },
  { title: 'EVENT', value: ({ step }) => step },
  { title: 'PATH', value: ({ asked }) => asked?.path ?? null, most: 80 },
  { title: 'FILE', value: ({ target }) => target, most: 60 },
  { title: 'STATE', value: ({ state }) => state },
]

function formatQuestion({ show, answer }: ApprovalQuestion): string[] {
  return [
    ...(show === null
      ? []
      : JSON.stringify(show, null, 2)
          .split('\n')
          .map((line) => formatText(line))),
    ...(answer === null ? [] : [`answer  ${formatText(JSON.stringify(answer))}`]),
  ]
}

const COLUMNS: Column<ApprovalItem>[] = [
  { title: '#', value: ({ number }) => number, align: 'right' },
  { title: 'PATH', value: nameItem, most: 80 },
  { title: 'SIZE', value: ({ asked }) => sizeOf({ bytes: null, ...asked }), align: 'right' },
  {
    title: 'CHANGED',
    value: ({ asked }) => (asked?.modifiedAt == null ? null : formatMoment(Date.parse(asked.modifiedAt))),
  },
  { title: 'TARGET', value: ({ target }) => target, most: 40 },
  { title: 'RUN', value: ({ runId }) => runId },
  { title: 'STATE', value: ({ state }) => state },
]

function adviseDecision({ id, kind, hash, needs, votes, question }: Approval): string {
  const people = needs === 1 ? '' : ` (${votes.length} of ${needs} people so far)`
  const answer = question === null || question.answer === null ? '' : ` --answer '{…}'`
  return [
    ...(kind === 'guard'
      ? [`This list holds what was asked for so far. What comes after it: upshot approvals show ${id} --ahead`]
      : []),
    `Approve it${people}: upshot approvals approve ${id} --hash ${hash.slice(0, 8)}${answer} --reason "…"`,
  ].join('\n')
}

/** Runs of an approval that are previewed; those after them are counted. */
const MAX_RUNS = 20
/** Effects of a run that are shown to a person. */
const EFFECTS_SHOWN = 50
const ALL_ITEMS = 1_000_000

/**
 * Previews how the runs of an open approval go on from where they stand. Real reads, and no effect.
 */
export async function foresee(
  out: Output,
  operations: Operations,
  approval: AnswerOf<'GET /approvals/:id'>,
): Promise<Foreseen> {
  if (operations.local === null) {
    return call(operations, 'POST /approvals/:id/look-ahead', { params: { id: approval.id }, body: {} })
  }
  const { store, config } = operations.local
  const items = await store.listApprovalItems({ approval: approval.id, limit: ALL_ITEMS })
  const open = items.filter(({ state }) => state === 'open')
  const all = [...new Set(open.map(({ runId }) => runId))]
  const runs = all.slice(0, MAX_RUNS)
  if (all.length > runs.length) out.note(`The first ${runs.length} of ${all.length} runs are previewed.`)
  if (runs.length === 0) return { runs: 0, ahead: [] }
  const { lookAhead } = await import('../../../../app/preview/look-ahead.ts')
  await using world = await openLiveReads(config)
  await using isolated = await openCode(out, { store, config, readFiles: world.readFiles })
  const ahead = await lookAhead(store, isolated, { runs, items: open, now: commandClock.now() })
  // Ctrl-C ends the reads of a look ahead, which then shows less.
  onInterrupt().throwIfAborted()
  return { runs: all.length, ahead }
}

/** The rest of each run, as far as it is known. */
export function formatAhead({ ahead }: Foreseen, layout: Layout): string[] {
  return ahead.flatMap(({ run, effects, bytes, list, end }) => {
    const rest = effects - Math.min(EFFECTS_SHOWN, list.length)
    const title = `After it, ${run} would ask for ${effects} more (${formatBytes(bytes)})`
    return [
      ...(effects === 0
        ? ['', `After it, ${run} would ask for nothing more.`]
        : formatRows(title, list.slice(0, EFFECTS_SHOWN), EFFECTS, layout)),
      ...(rest > 0 ? [`  … and ${rest} more: add --json`] : []),
      `  ${formatKnown(end)}`,
    ]
  })
}

const EFFECTS: Column<Foreseen['ahead'][number]['list'][number]>[] = [
  { title: 'WHAT', value: ({ class: kind }) => kind.toUpperCase() },
  { title: 'PATH', value: ({ path, target, step }) => path ?? target ?? step, most: 80 },
  { title: 'SIZE', value: sizeOf, align: 'right' },
]

function formatKnown(end: Foreseen['ahead'][number]['end']): string {
  const { reason } = end
  return `Then it would ${describeEnd(end)}${reason === null ? '.' : `: ${formatText(reason, 200)}`}`
}
