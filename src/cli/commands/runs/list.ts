import { type Command, Option } from '@commander-js/extra-typings'
import { RUN_ORIGINS, type Run } from '../../../core/runs/run.ts'
import { systemClock } from '../../../core/time.ts'
import { countUpTo } from '../../input/parse-option.ts'
import { withStore } from '../../open/open-project.ts'
import { formatMoment, formatSpan } from '../../terminal/format-value.ts'
import type { Output } from '../../terminal/output.ts'
import { type Column, formatTable } from '../../terminal/table.ts'
import { describeCause, describeReason, describeRun, styleStatus } from './run-view.ts'
import { addRunChoice, toFilter } from './select-runs.ts'

/** `upshot runs list`: newest first. */
export function define(command: Command, out: Output): void {
  addRunChoice(command)
    .addOption(new Option('--origin <origin>', 'only runs that were made this way').choices(RUN_ORIGINS))
    .option('--limit <n>', 'how many', countUpTo(10_000), 20)
    .action(({ limit, origin, ...choice }) =>
      withStore(async (store) => {
        const runs = await store.listRuns({
          limit,
          ...toFilter(choice),
          ...(origin === undefined ? {} : { origin }),
        })
        out.result(runs.map(describeRun), () => formatTable(runs, runColumns(systemClock.now()), out.paint))
        if (runs.length === 0) out.note('No such run. Events start runs: send one with "upshot trigger file.created".')
      }),
    )
}

/** Runs as a table. */
export function runColumns(now: number): Column<Run>[] {
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
