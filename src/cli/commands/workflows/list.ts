import type { Command } from '@commander-js/extra-typings'
import { describeBroken, type WorkflowRecord } from '../../../core/runs/workflow-record.ts'
import { listBrokenModules } from '../../../core/store/health/list-broken-modules.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { formatMoment } from '../../terminal/format-value.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { describeUnmatched, listUnmatched } from './unmatched.ts'
import { describeTrigger, describeWorkflow } from './workflow-view.ts'

/** `upshot workflows list`: the workflows as the app last loaded them. */
export function define(command: Command, { out, project }: Cli): void {
  command.action(() =>
    project.withStore(async (store) => {
      const workflows = await store.listWorkflows()
      out.result(workflows.map(describeWorkflow), () => formatTable(workflows, columns(commandClock.now()), out))
      for (const module of await listBrokenModules(store, commandClock.now())) out.note(describeBroken(module))
      const unmatched = await listUnmatched(store)
      if (unmatched.length > 0) out.note(`${describeUnmatched(unmatched)}.`)
      if (workflows.length === 0) out.note('No workflow is known yet. The app registers workflows when it starts.')
    }),
  )
}

function columns(now: number): Column<WorkflowRecord>[] {
  return [
    { title: 'WORKFLOW', value: ({ id }) => id },
    { title: 'ON', value: describeTrigger, most: 60 },
    {
      title: 'STATE',
      value: ({ pausedAt }) => (pausedAt === null ? 'active' : `paused since ${formatMoment(pausedAt, now)}`),
      style: ({ pausedAt }) => (pausedAt === null ? null : 'yellow'),
    },
    { title: 'HELD', value: ({ held }) => held, align: 'right' },
    { title: 'MODULE', value: ({ file }) => file, most: 60 },
    { title: 'LOADED', value: ({ loadedAt }) => formatMoment(loadedAt, now) },
  ]
}
