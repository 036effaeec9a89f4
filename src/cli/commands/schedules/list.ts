import { WORKFLOW_ROUTES } from '../../../admin/contract/resources/workflows.ts'
import { listCommand } from '../../operate/list-command.ts'
import { formatMoment } from '../../terminal/format-value.ts'

/** `upshot schedules list`: schedules with last and next times, and counts of missed ticks. */
export const define = listCommand(WORKFLOW_ROUTES, 'GET /schedules', {
  columns: (now) => [
    { title: 'WORKFLOW', value: ({ workflow }) => workflow },
    { title: 'CRON', value: ({ expression }) => expression },
    { title: 'ZONE', value: ({ timezone }) => timezone },
    { title: 'ACCOUNTS', value: ({ accounts }) => (accounts === 'each' ? accounts : accounts.join(', ')), most: 40 },
    { title: 'LAST', value: ({ lastTickAt }) => formatMoment(lastTickAt, now) },
    { title: 'NEXT', value: ({ nextAt }) => formatMoment(nextAt, now) },
    {
      title: 'STATE',
      value: ({ pausedAt }) => (pausedAt === null ? 'active' : 'paused'),
      style: ({ pausedAt }) => (pausedAt === null ? null : 'yellow'),
    },
    { title: 'UNFINISHED', value: ({ unfinished }) => unfinished, align: 'right' },
    { title: 'MISSED', value: ({ missed }) => missed, align: 'right' },
    { title: 'SKIPPED', value: ({ skipped }) => skipped, align: 'right' },
    { title: 'SUPPRESSED', value: ({ suppressed }) => suppressed, align: 'right' },
  ],
  empty: 'No workflow has a schedule. Write "on: cron(…)" in one.',
})
