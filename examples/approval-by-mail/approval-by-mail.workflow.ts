import { createTransport } from 'nodemailer'
import { defineEvent, defineWorkflow, z } from 'upshot'

/** The commit that opens an approval makes this event. */
const approvalOpened = defineEvent('upshot.approval.opened', {
  data: z.object({ approval: z.string(), workflow: z.string(), why: z.string(), expiresAt: z.string() }),
})

/** Your mail server, and who decides. A test sets another server. */
export const mail = { url: 'smtps://user:password@mail.example.com', to: 'storage-owners@example.com' }

/** Sends a mail for each approval that waits, with the command that shows the list. */
export default defineWorkflow({
  id: 'approval-by-mail',
  on: approvalOpened,
  async run({ event, step }) {
    const { approval, workflow, why, expiresAt } = event.data
    const text = [`${workflow} waits: ${why}.`, `Decide until ${expiresAt}:`, `  upshot approvals show ${approval}`]
    // Mail has no key against repetition. After a crash a second mail is better than none.
    await step.run('send mail', () => send(`An approval waits: ${workflow}`, text.join('\n')), { target: mail.to })
  },
})

async function send(subject: string, text: string): Promise<void> {
  await createTransport({ url: mail.url }).sendMail({ from: 'upshot@example.com', to: mail.to, subject, text })
}
