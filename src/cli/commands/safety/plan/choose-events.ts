import { findEvent } from '../../../../admin/queries/find-event.ts'
import { UpshotError } from '../../../../core/errors.ts'
import type { EventRecord } from '../../../../core/incoming/event.ts'
import { planRuns } from '../../../../core/incoming/route.ts'
import { DEFAULT_ACCOUNT } from '../../../../core/service/account.ts'
import { markEvent } from '../../../../core/store/events.ts'
import type { ReadStore } from '../../../../core/store/store.ts'
import { readEventFile } from '../../../open/read-event-file.ts'

type EventReads = Pick<ReadStore, 'findEvents' | 'searchEvents' | 'listEvents' | 'listRoutes'>

/** The events of a plan, as options name them: one of the three. */
interface EventChoice {
  id: string | undefined
  account: string | undefined
  workflow: string | undefined
  /** File with the body of an event. */
  file: string | undefined
  /** So many of the newest events that the workflow runs on. */
  last: number | undefined
}

const PAGE = 500
/** Events that are looked at for those of a workflow. */
const MAX_LOOKED = 100_000

/** The events to plan, newest first, with the workflow that runs on them. */
export async function chooseEvents(
  store: EventReads,
  { id, account, workflow: named, file, last }: EventChoice,
  now: number,
): Promise<{ events: EventRecord[]; workflow: string }> {
  if ([id, file, last].filter((given) => given !== undefined).length !== 1) throw describeMisuse()
  if (last !== undefined) {
    if (named === undefined) throw describeMisuse()
    return { workflow: named, events: await listNewest(store, { workflow: named, account, limit: last }) }
  }
  const event =
    file === undefined
      ? await findEvent(store, { id: id ?? '', account })
      : readEventFile(file, { account: account ?? DEFAULT_ACCOUNT, now })
  return { events: [event], workflow: named ?? (await findOnlyWorkflow(store, event)) }
}

/** The newest events that start runs of a workflow, and still have their body. */
async function listNewest(
  store: EventReads,
  { workflow, account, limit }: { workflow: string; account: string | undefined; limit: number },
): Promise<EventRecord[]> {
  const routes = ((await store.listRoutes()) ?? []).filter((route) => route.workflow === workflow)
  const found: EventRecord[] = []
  let before: string | undefined
  for (let looked = 0; looked < MAX_LOOKED; looked += PAGE) {
    const page = await store.listEvents({ limit: PAGE, ...(before === undefined ? {} : { before }) })
    for (const event of page) {
      const isOurs = account === undefined || event.account === account
      if (isOurs && event.body !== '' && planRuns(event.type, routes).length > 0) found.push(event)
      if (found.length === limit) return found
    }
    const oldest = page.at(-1)
    if (page.length < PAGE || oldest === undefined) break
    before = markEvent(oldest)
  }
  if (found.length > 0) return found
  throw new UpshotError('not_found', `No stored event starts runs of "${workflow}".`, {
    details: { fix: 'See what workflows run on: upshot workflows list. Or give the body of one: --file event.json' },
  })
}

async function findOnlyWorkflow(store: EventReads, { id, type }: EventRecord): Promise<string> {
  const [only, ...others] = planRuns(type, (await store.listRoutes()) ?? [])
  if (only !== undefined && others.length === 0) return only
  const which = only === undefined ? 'No workflow runs' : 'Several workflows run'
  const fix =
    only === undefined ? 'Name one with --workflow.' : `Choose one with --workflow: ${[only, ...others].join(', ')}.`
  throw new UpshotError('invalid_request', `${which} on events of type ${type}, such as ${id}.`, { details: { fix } })
}

function describeMisuse(): UpshotError {
  return new UpshotError('invalid_request', 'Name one event, or --file, or --last with --workflow.', {
    details: { fix: 'For example: "upshot plan evt_1", or "upshot plan --workflow tidy --last 20".' },
  })
}
