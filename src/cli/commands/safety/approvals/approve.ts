import { setTimeout as pause } from 'node:timers/promises'
import type { Command } from '@commander-js/extra-typings'
import type { AnswerOf } from '../../../../admin/contract/routes.ts'
import type { Foreseen } from '../../../../admin/ports/surroundings.ts'
import { UpshotError } from '../../../../core/errors.ts'
import { parseNumbers } from '../../../../core/safety/approval.ts'
import { checkAnswer } from '../../../../core/safety/check-answer.ts'
import { parseSize } from '../../../../core/safety/guard.ts'
import type { Cli } from '../../../command.ts'
import { countUpTo, parseJsonOption } from '../../../input/parse-option.ts'
import { call, type Operations } from '../../../open/operations.ts'
import { refrain } from '../../../operate/act-command.ts'
import { confirm } from '../../../terminal/confirm.ts'
import { formatBytes, formatText } from '../../../terminal/format-value.ts'
import type { Output } from '../../../terminal/output.ts'
import { type Approval, type ApprovalItem, readProof, requireHash, signWord, type Voter, type Word } from './decide.ts'
import { describeApproval } from './list.ts'
import { foresee } from './show.ts'

export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<id>', 'id of the approval, apr_…, or its beginning')
    .option('--hash <digits>', 'the hash that "approvals show" printed; names the list that you saw')
    .option('--only <numbers>', 'approve only these items, such as 1-40,45; the rest stays open')
    .option('--answer <json>', 'the answer to a question that asks for one', parseJsonOption)
    .option(
      '--ahead <n>',
      'then also approve up to n effects that a look ahead shows now, as they come',
      countUpTo(200),
    )
    .option('--ahead-size <size>', 'at most so many bytes ahead, such as "2 GB" (default: no bound)', parseSize)
    .option('--as <name>', 'decide as this registered approver')
    .option('--key-file <file>', 'sign with the private key in this file')
    .action((named, { hash: given, only, answer, ahead, aheadSize = Infinity, ...voter }) =>
      project.withOperations(async (operations) => {
        if (ahead === undefined && aheadSize !== Infinity) throw refuse('--ahead-size bounds --ahead.', 'Add --ahead.')
        const approval = await call(operations, 'GET /approvals/:id', { params: { id: named } })
        const expected = ahead === undefined ? null : await lookAhead(out, operations, approval, { ahead, aheadSize })
        const what = approval.kind === 'guard' ? `approve ${approval.openItems} items` : 'say yes'
        const will = `${what}: ${describeApproval(approval)}`
        if (out.given.dryRun) {
          await confirm(out, { will })
          return refrain(out, will)
        }
        const hash = await requireHash(out, approval, given)
        const numbers = only === undefined ? null : parseNumbers(only)
        const said = { verdict: 'approved', hash, only: numbers, answer: checkAnswer(approval, answer) } as const
        const signed = await signWord(operations, approval, { ...said, voter, operator: project.operator })
        const body = { ...signed, ...(only === undefined ? {} : { only }), ...(answer === undefined ? {} : { answer }) }
        const result = await call(operations, 'POST /approvals/:id/approve', { params: { id: approval.id }, body })
        if (expected === null) {
          out.result({ approval: approval.id, ...result }, () => [describeResult(result)])
          return
        }
        out.note(describeResult(result))
        const more = await approveAhead(out, operations, approval, { expected, voter, operator: project.operator })
        out.result({ approval: approval.id, ...result, ahead: more }, () => [
          `Approved ${more.approved} more of what was foreseen.`,
          ...(more.stopped === null ? [] : [more.stopped]),
        ])
      }),
    )
}

/** The effects that a person sees before the word is given, and that come after this list. */
async function lookAhead(
  out: Output,
  operations: Operations,
  approval: Approval,
  { ahead, aheadSize }: { ahead: number; aheadSize: number },
): Promise<Expected> {
  requireOne(approval)
  const expected = expect(await foresee(out, operations, approval), ahead, aheadSize)
  const effects = [...expected.values()].flat()
  if (effects.length === 0) return expected
  // The hash of a list names none of what comes after it.
  await confirm(out, {
    will: `approve ${effects.length} more, as its runs ask for them`,
    things: effects.map(
      ({ path, target, step, bytes }) => `${formatText(path ?? target ?? step)}  ${formatBytes(bytes)}`,
    ),
  })
  return expected
}

function describeResult({ status, granted, moved, next, missing }: AnswerOf<'POST /approvals/:id/approve'>): string {
  if (status === 'open')
    return `Your word counts. ${missing} more ${missing === 1 ? 'person has' : 'people have'} to agree.`
  const rest = next === null ? '' : ` The other ${moved} wait in approval ${next}.`
  if (granted === 0) return 'Approved.'
  return `Approved ${granted} ${granted === 1 ? 'item' : 'items'}.${rest}`
}

/** How often the next list is looked for, and how long without one. */
const LOOK_MS = 250
const IDLE_MS = 60_000

type ForeseenEffect = Foreseen['ahead'][number]['list'][number]

/** The effects that a person may approve ahead, by the run that will ask for them. */
type Expected = Map<string, ForeseenEffect[]>

/** The lists that were approved ahead, and why no more of them. */
interface Ahead {
  approved: number
  approvals: string[]
  stopped: string | null
}

/**
 * The first effects that a look ahead showed, at most so many of so many bytes. A delete whose size
 * nobody knows ends them where bytes are bounded.
 */
function expect({ ahead }: Foreseen, most: number, maxBytes: number): Expected {
  const expected: Expected = new Map()
  let [left, bytes] = [most, maxBytes]
  for (const { run, list } of ahead) {
    const taken: ForeseenEffect[] = []
    for (const effect of list) {
      bytes -= effect.bytes ?? (effect.class === 'delete' && Number.isFinite(maxBytes) ? Number.POSITIVE_INFINITY : 0)
      if (left === 0 || bytes < 0) break
      left -= 1
      taken.push(effect)
    }
    if (taken.length > 0) expected.set(run, taken)
  }
  return expected
}

/**
 * Approves what the runs of a list ask for next, with a word for each of their lists.
 * One with anything that was not foreseen stays open, and ends it. Nothing is approved in advance:
 * the end of this program ends it, too.
 */
async function approveAhead(
  out: Output,
  operations: Operations,
  first: Approval,
  { expected, ...who }: { expected: Expected; voter: Voter; operator: Word['operator'] },
): Promise<Ahead> {
  const done: Ahead = { approved: 0, approvals: [], stopped: null }
  const others = new Set([`${first.id} ${first.hash}`])
  let idleUntil = performance.now() + IDLE_MS
  while (expected.size > 0 && performance.now() < idleUntil) {
    const next = await findNext(operations, first.workflow, { expected, others })
    if (next === null) {
      await forgetEnded(operations, expected)
      await pause(LOOK_MS)
      continue
    }
    const { approval, items, hash } = next
    const fault = findUnforeseen(first, next, expected)
    if (fault !== null) {
      const advice = `Decide it yourself: upshot approvals show ${approval.id}`
      return { ...done, stopped: `Approval ${approval.id} ${fault}. ${advice}` }
    }
    const body = await signWord(operations, approval, { verdict: 'approved', hash, only: null, answer: null, ...who })
    await call(operations, 'POST /approvals/:id/approve', { params: { id: approval.id }, body })
    for (const item of items) take(expected, item)
    done.approved += items.length
    done.approvals.push(approval.id)
    out.note(`Approved ${items.map(({ asked, target }) => asked?.path ?? target).join(', ')} (${approval.id})`)
    idleUntil = performance.now() + IDLE_MS
  }
  const isIdle = expected.size > 0
  return { ...done, stopped: isIdle ? 'Its runs asked for nothing more within a minute.' : null }
}

interface Next {
  approval: Approval
  items: ApprovalItem[]
  /** Computed of the items, as the database may say another. */
  hash: string
}

/**
 * The next open list in which one of the runs asks for something. `others` keeps those in which
 * none does, as their items may be many: each is read once, until it changes.
 */
async function findNext(
  operations: Operations,
  workflow: string,
  { expected, others }: { expected: Expected; others: Set<string> },
): Promise<Next | null> {
  const query = { status: 'open', workflow, limit: 100 } as const
  const { items: open } = await call(operations, 'GET /approvals', { query })
  for (const approval of open) {
    const state = `${approval.id} ${approval.hash}`
    if (approval.kind !== 'guard' || others.has(state)) continue
    const { items, proof } = await readProof(operations, approval)
    const asked = items.filter((item) => item.state === 'open')
    if (asked.some(({ runId }) => expected.has(runId))) return { approval, items: asked, hash: proof.hash }
    others.add(state)
  }
  return null
}

/** Why a list is not what a person has seen ahead; null: it is. */
function findUnforeseen(first: Approval, { approval, items, hash }: Next, expected: Expected): string | null {
  if (approval.hash !== hash) return 'is not the list that its hash names'
  const { needs, role, account } = approval
  if (needs !== first.needs || role !== first.role || account !== first.account) return 'asks other people'
  const strange = items.find((item) => findEffect(expected, item) === undefined)
  return strange ? `asks for ${strange.asked?.path ?? strange.target}, which the look ahead did not show so` : null
}

/** The same step, target, path and size; the hash of the list binds the rest. */
function findEffect(expected: Expected, { runId, step, target, asked }: ApprovalItem): ForeseenEffect | undefined {
  return expected.get(runId)?.find((effect) => {
    const isSame = effect.step === step && effect.target === target
    return isSame && effect.path === (asked?.path ?? null) && effect.bytes === (asked?.bytes ?? null)
  })
}

function take(expected: Expected, item: ApprovalItem): void {
  const effect = findEffect(expected, item)
  const rest = expected.get(item.runId)?.filter((each) => each !== effect) ?? []
  if (rest.length === 0) expected.delete(item.runId)
  else expected.set(item.runId, rest)
}

const ENDED = ['completed', 'failed', 'canceled', 'skipped']

async function forgetEnded(operations: Operations, expected: Expected): Promise<void> {
  for (const run of expected.keys()) {
    const { status } = await call(operations, 'GET /runs/:id', { params: { id: run } })
    if (ENDED.includes(status)) expected.delete(run)
  }
}

/** Throws where the word of one person does not let a list begin. */
function requireOne({ kind, needs }: Approval): void {
  if (kind === 'guard' && needs === 1) return
  throw refuse(
    '--ahead is for a list of effects that one person approves.',
    'Leave it out, and approve each list as it comes.',
  )
}

function refuse(message: string, fix: string): UpshotError {
  return new UpshotError('invalid_request', message, { details: { fix } })
}
