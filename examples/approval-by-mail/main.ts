import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'
import { testbed } from 'upshot/testing'
import { type Say, tellRuns } from '../shared.ts'
import byMail, { mail } from './approval-by-mail.workflow.ts'
import retire from './retire-folder.workflow.ts'

/** 21 files are one more than a run may delete. A mail tells of it, and a person agrees. */
export default async function run(say: Say) {
  const inbox: string[] = []
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData: (stream, _session, done) => {
      void text(stream).then((message) => {
        inbox.push(message)
        done()
      })
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  mail.url = `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`
  try {
    await using t = await testbed({ workflows: [byMail, retire] })
    for (let each = 1; each <= 21; each++) await t.storage('storage_a').put(`/done/${each}.txt`, 'done')
    await t.send('batch.done')
    tellRuns(t, say)
    for (const approval of await t.approvals()) await t.approve(approval, { by: 'anna' })
    return { mails: inbox.length, subject: /^Subject: .*/m.exec(inbox[0] ?? '')?.[0], output: t.run(retire).output }
  } finally {
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }
}
