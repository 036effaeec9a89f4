import { UpshotError } from '../../core/errors.ts'
import type { DeliveryRecord } from '../../core/incoming/delivery.ts'
import type { Endpoint } from '../../core/incoming/endpoint.ts'
import type { EventRecord } from '../../core/incoming/event.ts'
import type { Run } from '../../core/runs/run.ts'
import type { ScheduleRecord } from '../../core/runs/schedule.ts'
import type { WorkflowRecord } from '../../core/runs/workflow-record.ts'
import type { Approval } from '../../core/safety/approval.ts'
import type { BulkOperation } from '../../core/safety/bulk.ts'
import { type Account, DEFAULT_ACCOUNT } from '../../core/service/account.ts'
import type { ReadStore } from '../../core/store/store.ts'
import { resolveAmong, resolveId } from './resolve-id.ts'

// Each takes a whole id, or the only beginning of one, and throws `not_found` without a row.

/** A delivery with its event, null if none is stored. */
export async function requireDelivery(
  store: Pick<ReadStore, 'findDelivery' | 'listDeliveryIds'>,
  id: string,
): Promise<{ delivery: DeliveryRecord; event: EventRecord | null }> {
  const found = await resolveId(id, {
    prefix: 'dlv_',
    find: (whole) => store.findDelivery(whole),
    list: (beginning, limit) => store.listDeliveryIds(beginning, limit),
  })
  return found ?? missing(`There is no delivery ${id}, or retention has removed it.`, 'deliveries')
}

export async function requireApproval(
  store: Pick<ReadStore, 'findApproval' | 'listApprovalIds'>,
  id: string,
  now: number,
): Promise<Approval> {
  const found = await resolveId(id, {
    prefix: 'apr_',
    find: (whole) => store.findApproval(whole, now),
    list: (beginning, limit) => store.listApprovalIds(beginning, limit),
  })
  return found ?? missing(`There is no approval ${id}.`, 'approvals')
}

export async function requireOperation(
  store: Pick<ReadStore, 'findBulk' | 'listBulks'>,
  id: string,
): Promise<BulkOperation> {
  const found = await resolveId(id, {
    prefix: 'opr_',
    find: (whole) => store.findBulk(whole),
    async list(beginning, limit) {
      // `{` sorts after every digit of an id.
      const newest = await store.listBulks({ limit, before: `${beginning}{` })
      return newest.map((each) => each.id).filter((each) => each.startsWith(beginning))
    },
  })
  return found ?? missing(`There is no operation ${id}.`, 'operations')
}

/** The endpoint with this name, id or beginning of an id; the first one without any. */
export async function requireEndpoint(
  store: Pick<ReadStore, 'listEndpoints'>,
  name: string | undefined,
): Promise<Endpoint> {
  const endpoints = await store.listEndpoints()
  const found =
    name === undefined
      ? endpoints[0]
      : (endpoints.find((each) => each.name === name) ?? resolveAmong(name, endpoints) ?? undefined)
  if (found) return found
  const known = endpoints.map((each) => each.name).join(', ')
  throw new UpshotError('not_found', `There is no endpoint${name === undefined ? '' : ` named "${name}"`}.`, {
    fix: known === '' ? 'Create one with "upshot endpoints add <name>".' : `Choose one of: ${known}.`,
  })
}

/** Throws `not_found` for the name of no account; the environment has `default`. */
export async function requireAccount(
  store: Pick<ReadStore, 'findAccount' | 'listAccounts'>,
  name: string,
): Promise<Account | null> {
  const account = name === DEFAULT_ACCOUNT ? null : await store.findAccount(name)
  if (account !== null || name === DEFAULT_ACCOUNT) return account
  const known = [DEFAULT_ACCOUNT, ...(await store.listAccounts()).map((each) => each.name)].join(', ')
  throw new UpshotError('not_found', `There is no account named "${name}".`, {
    fix: `Create it with "upshot accounts add ${name}", or choose one of: ${known}.`,
  })
}

export async function requireWorkflow(store: Pick<ReadStore, 'listWorkflows'>, id: string): Promise<WorkflowRecord> {
  const workflows = await store.listWorkflows()
  const workflow = workflows.find((each) => each.id === id)
  if (workflow) return workflow
  throw new UpshotError('not_found', `There is no workflow "${id}".`, {
    fix: adviseNames(workflows.map((each) => each.id)),
  })
}

/** Names that an error lists; of more, it names the command. */
const MAX_ADVISED = 20

function adviseNames(known: readonly string[]): string {
  return known.length === 0 ? 'Start the app, which registers the workflows.' : `Choose one of: ${known.join(', ')}.`
}

/** The schedule with this name or id; of a cron line in code, its workflow. */
export async function requireSchedule(
  store: Pick<ReadStore, 'findSchedule' | 'listSchedules'>,
  name: string,
): Promise<ScheduleRecord> {
  const schedule = await store.findSchedule(name)
  if (schedule) return schedule
  const known = await store.listSchedules({ limit: MAX_ADVISED })
  throw new UpshotError('not_found', `There is no schedule "${name}".`, {
    fix:
      known.length === 0
        ? 'Write "on: cron(…)" in a workflow, or add one for a callable workflow.'
        : known.length < MAX_ADVISED
          ? adviseNames(known.map((each) => each.name))
          : 'List them with "upshot schedules list".',
  })
}

function missing(message: string, list: string): never {
  throw new UpshotError('not_found', message, { fix: `List them with "upshot ${list} list".` })
}

/** The run with this id, or with the only id that begins so; null without one. */
export async function findRun(store: Pick<ReadStore, 'findRun' | 'listRunIds'>, id: string): Promise<Run | null> {
  return resolveId(id, {
    prefix: 'run_',
    find: (whole) => store.findRun(whole),
    list: (beginning, limit) => store.listRunIds(beginning, limit),
  })
}

/** The same; throws `not_found` without one. */
export async function requireRun(store: Pick<ReadStore, 'findRun' | 'listRunIds'>, id: string): Promise<Run> {
  return (await findRun(store, id)) ?? missing(`There is no run ${id}, or retention has removed it.`, 'runs')
}
