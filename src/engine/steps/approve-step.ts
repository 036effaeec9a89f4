import type { ApproveOptions, ApproveVerdict } from '../../author/steps/step-options.ts'
import { type JsonValue, toJson } from '../../core/json.ts'
import { accountOf } from '../../core/runs/claim.ts'
import { type Checkpoint, type StepName, stepKeys } from '../../core/runs/step.ts'
import type { Question } from '../../core/runs/wait.ts'
import { type Approval, QUESTION } from '../../core/safety/approval.ts'
import { askedOf } from '../../core/safety/effect.ts'
import { findUnproven } from '../../core/safety/votes/approval-proof.ts'
import type { FileEntry } from '../../core/service/file.ts'
import { parseDuration } from '../../core/time.ts'
import { neverSettles } from '../pass/parking.ts'
import { aboutRun, type Pass } from '../pass/pass.ts'
import { nameStorage } from './guard/name-storages.ts'
import { holdStep, newStep, readDuringPass, takeStep } from './reach-step.ts'
import { describeSchema, refuseStep, requireAsk } from './step-request.ts'
import { stubStep } from './stub-step.ts'

export type ApproveRequest = ApproveOptions

type Verdict = ApproveVerdict<unknown>

const MAX_SHOWN_BYTES = 1_048_576

/** Parks the run until people have decided its question, or the time for that is over. */
export function approveStep(pass: Pass, name: StepName, request: ApproveRequest): Promise<Verdict> {
  return takeStep(
    pass,
    { name, kind: 'approve', effect: 'read' },
    ({ key, known }) => (known ? goOn(pass, known, request) : begin(pass, key, request)),
    (verdict, key) => fitVerdict(pass, key, request, verdict as Verdict),
  )
}

async function begin(pass: Pass, key: string, request: ApproveRequest): Promise<Verdict> {
  const question = planQuestion(pass, key, request)
  const held = holdStep(pass)
  if (held && !(await held)) return neverSettles()
  const step: Checkpoint = {
    ...newStep(pass, { key, kind: 'approve', effect: 'read' }),
    target: question.ask,
    dueAt: question.expiresAt,
  }
  if (pass.stub)
    return fitVerdict(pass, key, request, (await stubStep(pass, pass.stub, step, { approve: question })) as Verdict)
  await ask(pass, step, question)
  return goOn(pass, step, request)
}

/** Opens the approval in the commit of its step, and parks: neither exists without the other. */
async function ask(pass: Pass, step: Checkpoint, question: Question): Promise<void> {
  let isSaved = false
  // A failed write is reported by the barrier of the journal.
  pass.journal.record(step, undefined, { approve: question }).then(
    () => {
      isSaved = true
      void reportOpened(pass, step)
    },
    () => {},
  )
  do await park(pass, step)
  while (!isSaved)
}

async function reportOpened(pass: Pass, { key }: Checkpoint): Promise<void> {
  const found = await pass.store.findQuestion(pass.run.lease.runId, key, pass.clock.now()).catch(() => null)
  if (!found) return
  const reason = `asks in approval ${found.id}: ${found.why}`
  pass.publish({ kind: 'approval.opened', approval: found.id, ...aboutRun(pass), step: key, reason, rule: null })
}

async function goOn(pass: Pass, step: Checkpoint, request: ApproveRequest): Promise<Verdict> {
  if (pass.stub) return fitVerdict(pass, step.key, request, (await stubStep(pass, pass.stub, step)) as Verdict)
  const held = holdStep(pass)
  if (held && !(await held)) return neverSettles()
  for (;;) {
    const { runId } = pass.run.lease
    const found = await readDuringPass(pass, () => pass.store.findQuestion(runId, step.key, pass.clock.now()))
    if (found === null || found.status === 'withdrawn') {
      // A person started the run again after its end had taken the question back.
      const question = planQuestion(pass, step.key, request)
      step = { ...step, dueAt: question.expiresAt }
      await ask(pass, step, question)
    } else if (found.status !== 'open') return complete(pass, step, { approval: found, request })
    else await park(pass, step)
  }
}

async function complete(
  pass: Pass,
  step: Checkpoint,
  { approval, request }: { approval: Approval; request: ApproveRequest },
): Promise<Verdict> {
  const fault = approval.status === 'approved' ? await findFault(pass, approval, request) : null
  if (fault !== null) return pass.parking.halt(`step "${step.key}": approval ${approval.id} is not valid: ${fault}`)
  const verdict = describeVerdict(approval)
  const settled = await pass.order.turn(step)
  const finishedAt = pass.clock.now()
  const row = { ...step, status: 'completed', output: JSON.stringify(verdict), finishedAt, settled } as const
  const { id, status } = approval
  const expire = status === 'expired' ? { expire: { approval: id, now: finishedAt } } : {}
  void pass.journal.record(row, undefined, { isSettled: true, ...expire })
  pass.publish({ kind: 'approval.closed', approval: id, ...aboutRun(pass), step: step.key, status })
  return fitVerdict(pass, step.key, request, verdict)
}

/** Why the stored votes prove no yes to this question; null: they do. Its row proves nothing. */
async function findFault(pass: Pass, approval: Approval, { by, needs }: ApproveRequest): Promise<string | null> {
  if (by !== undefined && approval.role !== by) return `it did not ask for the role "${by}"`
  const least = needs ?? pass.guard.approvals.needs
  return await readDuringPass<string | null>(pass, () => findUnproven(pass.store, approval, QUESTION, least))
}

function describeVerdict({ id: approval, status, answer, votes, decidedAt, expiresAt }: Approval): Verdict {
  if (status === 'approved') {
    const words = votes.filter((vote) => vote.verdict === 'approved' && vote.answer === answer)
    const told = {
      by: words.map(({ actor }) => actor),
      at: decidedAt ?? expiresAt,
      reason: words.at(-1)?.reason ?? null,
    }
    return { approved: true, approval, ...told, answer: answer === null ? null : JSON.parse(answer) }
  }
  const no = votes.find(({ verdict }) => status === 'denied' && verdict === 'denied')
  const by = no === undefined ? [] : [no.actor]
  const why = status === 'denied' ? 'denied' : 'expired'
  return { approved: false, approval, why, by, at: decidedAt ?? expiresAt, reason: no?.reason ?? null }
}

/** Parses the answer. Where it does not fit the author's schema, the run waits for a person. */
function fitVerdict(pass: Pass, key: string, { answer: schema }: ApproveRequest, verdict: Verdict): Promise<Verdict> {
  if (!verdict.approved || schema === undefined) return Promise.resolve(verdict)
  const parsed = schema.safeParse(verdict.answer)
  if (parsed.success) return Promise.resolve({ ...verdict, answer: parsed.data })
  const faults = parsed.error.issues.map(({ path, message }) => `${['answer', ...path].join('.')}: ${message}`)
  return pass.parking.halt(
    `step "${key}": the answer of approval ${verdict.approval} does not fit: ${faults.join('; ')}`,
  )
}

function park(pass: Pass, step: Checkpoint): Promise<void> {
  return pass.parking.wait(step, step.dueAt, `waits for people in step "${step.key}": ${step.target}`, 'answer')
}

/** The stored form of a question. Throws `invalid_workflow` where a part is not valid. */
function planQuestion(pass: Pass, key: string, request: ApproveRequest): Question {
  const { ask, answer, by = null, needs = pass.guard.approvals.needs, timeout, deletes = [] } = request
  requireAsk(key, ask)
  if (!Number.isInteger(needs) || needs < 1) throw refuseStep(key, '`needs` must be a whole number from 1 on.')
  const now = pass.clock.now()
  const waitMs =
    timeout === undefined ? pass.guard.approvals.expireMs : parseDuration(timeout, `Step "${key}": timeout`)
  return {
    workflow: pass.run.workflow,
    account: accountOf(pass.run.cause),
    ask,
    show: readShown(key, request.show),
    answer: describeSchema(key, 'answer', answer),
    needs,
    role: by,
    effects: deletes.map((file) => describeDelete(nameStorage(file, pass.spellings))),
    openedAt: now,
    // The run would end before a later word.
    expiresAt: Math.min(now + waitMs, pass.deadline ?? Infinity),
  }
}

function readShown(key: string, shown: unknown): JsonValue {
  if (shown === undefined) return null
  const json = toJson(shown, `Step "${key}": \`show\``)
  if (Buffer.byteLength(json) <= MAX_SHOWN_BYTES) return JSON.parse(json)
  throw refuseStep(key, `\`show\` has more than ${MAX_SHOWN_BYTES} bytes of JSON. Show names and counts, not content.`)
}

/** The delete of a file, by the key of its step and the state in which people see the file. */
function describeDelete(file: FileEntry) {
  const target = `${file.service}:${file.id}`
  return { step: stepKeys()(['files.delete', target]), target, asked: askedOf(file) }
}
