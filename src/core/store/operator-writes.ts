import type { Transactions } from '../../store/transactions.ts'
import type { Endpoint } from '../incoming/endpoint.ts'
import type { NewSchedule } from '../runs/schedule.ts'
import type { AuditedAction } from '../safety/audit.ts'
import type { BulkPlan } from '../safety/bulk.ts'
import { describeScope } from '../safety/stop.ts'
import { DEFAULT_ACCOUNT } from '../service/account.ts'

/**
 * The writes that a person makes, each with the action that the audit log keeps of it. The
 * parameters are chosen one by one, so that no secret is among them.
 */
export const OPERATOR_WRITES = {
  startRun: ({ run, workflow, account }) => act('run.start', run, { workflow, account }),
  startBulk: (plan) => act('operation.start', plan.id, describeBulk(plan)),
  abortBulk: (operation) => act('operation.abort', operation),
  saveFailureState: ({ group, kind, until }) =>
    act(kind === 'resolved' ? 'failure.resolve' : 'failure.snooze', group, { until }),
  saveLoginCode: ({ name, role }) => act('session.invite', name, { role }),
  startSession: ({ id, name, role }) => act('session.start', id, { name, role }),
  endSession: (session) => act('session.end', session),
  saveToken: ({ id, name, role, expiresAt }) => act('token.add', id, { name, role, expiresAt }),
  revokeToken: (token) => act('token.revoke', token),
  cancelRun: (run, reason) => act('run.cancel', run, { because: reason }),
  retryRun: (run) => act('run.retry', run),
  resolveRun: (run) => act('run.resolve', run),
  unresolveRun: (run) => act('run.unresolve', run),
  resumeRun: (run, { fromScratch }) => act(fromScratch ? 'run.restart' : 'run.resume', run),
  skipSleep: (run) => act('run.skip_sleep', run),
  forkRun: (run, { keys, edited }) => act('run.fork', run, { keeps: keys.length, edited: edited?.key ?? null }),
  replayEvent: (event, workflows) =>
    act('event.replay', event.id, { account: event.account, workflows: [...workflows] }),
  answerHook: ({ hook }) => act('hook.answer', hook),
  pauseWorkflow: (workflow) => act('workflow.pause', workflow),
  removeWorkflow: (workflow) => act('workflow.remove', workflow),
  resumeWorkflow: (workflow) => act('workflow.resume', workflow),
  addSchedule: (schedule) =>
    act(
      schedule.plan.kind === 'backfill' ? 'schedule.backfill' : 'schedule.add',
      schedule.name,
      describePlan(schedule),
    ),
  editSchedule: (schedule) => act('schedule.edit', schedule.name, describePlan(schedule)),
  removeSchedule: ({ id, name }) => act('schedule.remove', name, { id }),
  pauseSchedule: (id, isPaused) => act(isPaused ? 'schedule.pause' : 'schedule.resume', id),
  recordTick: (id, { scheduledFor }, _now, { account = DEFAULT_ACCOUNT } = {}) =>
    act('schedule.run', id, { scheduledFor, account }),
  addEndpoint: (endpoint) => act('endpoint.add', endpoint.name, describeEndpoint(endpoint)),
  updateEndpoint: (endpoint) => act('endpoint.change', endpoint.name, describeEndpoint(endpoint)),
  removeEndpoint: ({ id, name }) => act('endpoint.remove', name, { id }),
  saveAccount: ({ name, baseUrl, plan, storages }) => act('account.save', name, { baseUrl, plan, storages }),
  removeAccount: (name) => act('account.remove', name),
  decideApproval: ({ approval, verdict, hash, only, actor }) =>
    act(verdict === 'approved' ? 'approval.approve' : 'approval.deny', approval, {
      hash,
      only: only === null ? null : only.map(({ from, to }) => `${from}-${to}`),
      as: actor,
    }),
  startPlanned: ({ event, workflow, run, approval, items }, { actor, hash }) =>
    act('event.replay_plan', event.id, {
      account: event.account,
      workflow,
      run,
      hash,
      as: actor,
      approval: items.length === 0 ? null : approval,
      effects: items.length,
    }),
  stopEffects: ({ kind, name, reason }) => act('effects.stop', describeScope({ kind, name }), { because: reason }),
  resumeEffects: (scope) => act('effects.resume', describeScope(scope)),
  noteRestored: ({ reason }) => act('effects.restored', 'ledger', { because: reason }),
  // The words themselves would stay here for ever.
  eraseTexts: ({ words, table, keys }) => act('privacy.erase', table, { kind: words.kind, rows: keys.length }),
  addApprover: ({ name, roles }) => act('approver.add', name, { roles: [...roles] }),
  removeApprover: (name) => act('approver.remove', name),
} as const satisfies {
  [Name in keyof Transactions]?: (...args: Parameters<Transactions[Name]>) => AuditedAction
}

/** A write of the store that a person makes. */
export type OperatorWrite = keyof typeof OPERATOR_WRITES

/** The writes of persons, in their usual form. */
export type OperatorWrites = Pick<Transactions, OperatorWrite>

/** A write of an operator, and the action that the audit log keeps of it. */
export interface Operation<Name extends OperatorWrite = OperatorWrite> {
  write: Name
  args: Parameters<OperatorWrites[Name]>
}

function act(action: string, target: string, parameters: AuditedAction['parameters'] = {}): AuditedAction {
  return { action, target, parameters }
}

function describeBulk(plan: BulkPlan): AuditedAction['parameters'] {
  const { kind, perSecond } = plan
  const shared = { kind, perSecond }
  if (plan.kind !== 'replay') return { ...shared, filter: { ...plan.filter } }
  const { words = [], ...filter } = plan.filter
  const workflows = [...new Set(plan.routes.map(({ workflow }) => workflow))]
  return { ...shared, filter: { ...filter, words: [...words] }, workflows }
}

/** Its input is no part of it. */
function describePlan({
  id,
  workflow,
  plan,
}: Pick<NewSchedule, 'id' | 'workflow' | 'plan'>): AuditedAction['parameters'] {
  return { id, workflow, plan: JSON.parse(JSON.stringify(plan)) }
}

/** Its secrets count by number only. */
function describeEndpoint({ id, account, events, scheme, status, secrets }: Endpoint): AuditedAction['parameters'] {
  return { id, account, events: [...events], status, scheme: { ...scheme }, secrets: secrets.length }
}
