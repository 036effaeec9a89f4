import { WORKFLOW_ROUTES } from '../../../admin/contract/resources/workflows.ts'
import { describeBroken } from '../../../core/runs/workflow-record.ts'
import { listCommand } from '../../operate/list-command.ts'
import { formatMoment } from '../../terminal/format-value.ts'
import { describeTrigger, describeUnmatched } from './workflow-view.ts'

/** `upshot workflows list`: the workflows as the app last loaded them. */
export const define = listCommand(WORKFLOW_ROUTES, 'GET /workflows', {
  columns: (now) => [
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
  ],
  empty: 'No workflow is known yet. The app registers workflows when it starts.',
  after: ({ broken, unmatched }) => [
    ...broken.map(describeBroken),
    ...(unmatched.length === 0 ? [] : [`${describeUnmatched(unmatched)}.`]),
  ],
})
