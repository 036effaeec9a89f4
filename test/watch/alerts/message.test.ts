import { expect, test } from 'vitest'
import type { AlertItem } from '../../../src/core/alerts/decide-message.ts'
import { postSlack } from '../../../src/watch/alerts/deliver-message.ts'
import { writeMessage, writeText } from '../../../src/watch/alerts/message.ts'
import { NOW } from '../../support/fixtures.ts'
import { startHook } from './support/hook-server.ts'
import { RULE } from './support/open-alerts.ts'

const item = (n: number, title = `w${n} fails`): AlertItem => ({
  change: 'new',
  topic: {
    id: `grp_${n}`,
    title,
    page: `/runs?group=grp_${n}`,
    command: `runs list --group grp_${n}`,
    since: NOW,
    seenAt: NOW,
    count: 1,
    sentCount: null,
    lastSentAt: null,
    endedAt: null,
    sendingUntil: null,
  },
})

const write = (items: readonly AlertItem[]) => writeMessage(RULE, items, { base: null, now: NOW })

test('a message names ten things, and counts the others', () => {
  const message = write(Array.from({ length: 12 }, (_, n) => item(n)))
  expect(message).toMatchObject({ summary: 'new: w0 fails, and 11 more', more: 2 })
  expect(message.items).toHaveLength(10)
  expect(writeText(message)).toMatch(/new: w9 fails\n.*\nand 2 more$/)
  expect(write([item(1)])).toMatchObject({ summary: 'new: w1 fails', more: 0 })
})

test('a name that looks like a mention or a link is plain text to Slack', async () => {
  const hook = await startHook()
  const message = write([item(1, '<!channel> & <https://evil.example|here> fails')])
  await postSlack({ kind: 'slack', url: hook.url }, message, { signal: new AbortController().signal })
  const { text } = JSON.parse(hook.posted[0]?.body ?? '{}')
  expect(text).toContain('new: &lt;!channel&gt; &amp; &lt;https://evil.example|here&gt; fails')
  expect(text).not.toMatch(/[<>]/)
})
