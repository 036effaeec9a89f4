import { resolve } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import type { RoomPlan } from '../../../../app/play/room.ts'
import { UpshotError } from '../../../../core/errors.ts'
import type { EventRecord } from '../../../../core/incoming/event.ts'
import { planRuns } from '../../../../core/incoming/route.ts'
import type { ReadStore } from '../../../../core/store/store.ts'
import { systemClock } from '../../../../core/time.ts'
import type { Config } from '../../../../project/config/load-config.ts'
import type { Cli } from '../../../command.ts'
import { findEvent } from '../../../open/find-event.ts'
import { formatFailure } from '../../../terminal/format-value.ts'
import { onInterrupt } from '../../../terminal/on-interrupt.ts'
import { describePlanFile, writePlanFile } from './plan-file.ts'
import { describePlan, formatPlan } from './plan-view.ts'

/** `upshot plan <event>`: what a workflow would do with an event, found without doing it. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<event>', 'id of the event, evt_…, or its beginning')
    .option('--workflow <id>', 'the workflow (default: the only one that runs on the type of the event)')
    .option('--account <name>', 'account of the event, if several have one with this id')
    .option('--workflows <folder>', 'the folder of the code (default: that of the project)')
    .option('--save <file>', 'save the deletes and writes, for "upshot events replay --plan"')
    .action((id, { workflow: named, account, workflows, save }) =>
      project.withStore(async (store, config) => {
        const event = await findEvent(store, { id, account })
        const workflow = named ?? (await findOnlyWorkflow(store, event))
        const reads: string[] = []
        await using world = await openWorld(config, (operation) => reads.push(`files.${operation}`))
        const { openRoom } = await import('../../../../app/play/open-room.ts')
        const { imagineRun } = await import('../../../../app/play/plan-event.ts')
        await using room = await openRoom(store, config, {
          onPrint: (text) => out.detail(text.trimEnd()),
          readFiles: world.readFiles,
          ...(workflows === undefined ? {} : { workflowsDir: resolve(workflows) }),
        })
        for (const { file, error } of room.code.broken) out.note(`${file} cannot be loaded: ${formatFailure(error)}`)
        const now = systemClock.now()
        const planned = await room.plan({ claim: imagineRun(event, workflow, now), use: await store.listGuardUse(now) })
        const code = room.code.workflows.find((each) => each.id === workflow)
        const about = { workflow, event, codeHash: code?.codeHash ?? null, reads, stops: await store.listStops() }
        out.result(describePlan(planned, about), () => formatPlan(planned, about, out))
        leave(out, planned)
        if (save !== undefined) savePlan(out, planned, { ...about, file: save, now })
      }),
    )
}

function savePlan(
  out: Cli['out'],
  planned: RoomPlan,
  {
    file,
    event,
    ...about
  }: { file: string; event: EventRecord; workflow: string; codeHash: string | null; now: number },
): void {
  const { workflow, codeHash, now } = about
  const plan = describePlanFile(planned, { event: event.id, account: event.account, workflow, codeHash, now })
  writePlanFile(file, plan)
  out.note(`${plan.effects.length} effects are in ${file}, ${plan.hash.slice(0, 8)}. A run that may do just these:`)
  out.note(`upshot events replay ${event.id} --workflow ${workflow} --plan ${file}`)
}

function leave(out: Cli['out'], { end, undeclared }: RoomPlan): void {
  if (end.kind === 'failed') out.leaveWith('failed')
  if (undeclared.length > 0) out.leaveWith('difference')
}

/** The clients of the service, with the limit of their keys that the app shares. */
async function openWorld(config: Config, onRead: (operation: string) => void) {
  const { openStore } = await import('../../../../project/data-dir/open-store.ts')
  const { AccountClients } = await import('../../../../app/service/account-clients.ts')
  const { findAccess } = await import('../../../../app/service/access-to.ts')
  const { openReads } = await import('../../../../app/play/open-reads.ts')
  const store = await openStore(config)
  const clients = new AccountClients({
    ...{ store, clock: systemClock, random: Math.random, publish: () => {}, burst: config.files.burst },
    ...{ priority: 'background', defaultAccess: () => findAccess(config) },
  })
  return {
    readFiles: openReads(clients, onInterrupt(), onRead),
    [Symbol.asyncDispose]: () => clients.stop().finally(() => store.close()),
  }
}

async function findOnlyWorkflow(store: Pick<ReadStore, 'listRoutes'>, { id, type }: EventRecord): Promise<string> {
  const [only, ...others] = planRuns(type, (await store.listRoutes()) ?? [])
  if (only !== undefined && others.length === 0) return only
  const which = only === undefined ? 'No workflow runs' : 'Several workflows run'
  const fix =
    only === undefined ? 'Name one with --workflow.' : `Choose one with --workflow: ${[only, ...others].join(', ')}.`
  throw new UpshotError('invalid_request', `${which} on events of type ${type}, such as ${id}.`, { details: { fix } })
}
