import { z } from 'zod'
import { ALERT_KINDS, type AlertKind } from '../../../../core/alerts/alert-rule.ts'
import { defineRoutes, time } from '../../route.ts'

const topic = z
  .object({
    id: z.string(),
    title: z.string().describe('Names and counts, never content of events or files.'),
    page: z.string().describe('Path of the dashboard’s page about it.'),
    command: z.string().describe('The command that shows it.'),
    count: z.number().describe('Of a state, how many there are; otherwise all since it began.'),
    since: time(),
    lastSentAt: time().nullable().describe('Moment of the last message; null: none was taken yet.'),
    endedAt: time().nullable().describe('Null while it goes on.'),
  })
  .meta({ id: 'AlertTopic' })

const channel = z
  .object({
    name: z.string(),
    kind: z.enum(['webhook', 'slack', 'email']),
    sentAt: time().nullable().describe('When a message last went there; null: never.'),
    error: z.string().nullable().describe('Why the channel did not take that one; null where it did.'),
  })
  .meta({ id: 'AlertChannel' })

const alertRule = z
  .object({
    name: z.string(),
    when: z.enum(Object.keys(ALERT_KINDS) as [AlertKind, ...AlertKind[]]),
    workflow: z.string().nullable().describe('Null: every workflow.'),
    over: z.number().describe('Tells only above this number, share of the disk, or time in milliseconds.'),
    forMs: z.number(),
    everyMs: z.number(),
    channels: z.array(channel),
    open: z.array(topic).describe('What is wrong now.'),
    past: z.array(topic).describe('What a message was sent about and is over, newest first, at most 50.'),
  })
  .meta({ id: 'AlertRule' })

export const ALERT_ROUTES = defineRoutes({
  'GET /alerts': {
    id: 'listAlerts',
    summary: 'The alert rules of the project file, with what is wrong now and what was',
    answer: z.object({ items: z.array(alertRule) }),
  },
  'GET /alerts/:name': {
    id: 'getAlert',
    summary: 'One alert rule',
    answer: alertRule,
  },
  'POST /alerts/:name/test': {
    id: 'testAlert',
    summary: 'Sends a message that says it is a test to each channel of a rule, up to three times',
    role: 'admin',
    answer: z.object({
      channels: z.array(
        z.object({ channel: z.string(), error: z.string().nullable().describe('Null where it took the message.') }),
      ),
    }),
    audit: 'alert.test',
  },
})
