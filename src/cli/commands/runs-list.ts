import { type Command, Option } from '@commander-js/extra-typings'
import { RUN_STATUSES, type Run } from '../../core/run.ts'
import { systemClock } from '../../core/time.ts'
import { formatMoment, formatSpan } from '../format-value.ts'
import type { Output } from '../output.ts'
import { countUpTo } from '../parse-option.ts'
import { withStore } from '../project.ts'
import { describeCause, describeReason, describeRun, styleStatus } from '../run-view.ts'
import { type Column, formatTable } from '../table.ts'

/** `upshot runs list`: newest first. */
export function define(command: Command, out: Output): void {
  command
    .addOption(new Option('--status <status>', 'only runs in this state').choices(RUN_STATUSES))
    .option('--workflow <id>', 'only runs of this workflow')
    .option('--event <id>', 'only runs that this event caused')
    .option('--limit <n>', 'how many', countUpTo(10_000), 20)
    .action(({ status, workflow, event, limit }) =>
      withStore(async (store) => {
        const runs = await store.listRuns({
          limit,
          ...(status === undefined ? {} : { status }),
          ...(workflow === undefined ? {} : { workflow }),
          ...(event === undefined ? {} : { eventId: event }),
        })
        out.result(runs.map(describeRun), () => formatTable(runs, columns(systemClock.now()), out.paint))
        if (runs.length === 0) out.note('No such run. Events start runs: send one with "upshot trigger file.created".')
      }),
    )
}

function columns(now: number): Column<Run>[] {
  return [
    { title: 'RUN', value: ({ id }) => id },
    { title: 'WORKFLOW', value: ({ workflow }) => workflow },
    { title: 'STATUS', value: ({ status }) => status, style: styleStatus },
    { title: 'CAUSE', value: (run) => describeCause(run, now), most: 60 },
    { title: 'CREATED', value: ({ createdAt }) => formatMoment(createdAt, now) },
    { title: 'TOOK', value: ({ startedAt, finishedAt }) => formatSpan(startedAt, finishedAt), align: 'right' },
    { title: 'WHY', value: (run) => describeReason(run, now), most: 80 },
  ]
}
