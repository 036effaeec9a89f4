import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../core/errors.ts'
import { systemClock } from '../../../core/time.ts'
import { findEndpoint } from '../../open/find-endpoint.ts'
import { withStore } from '../../open/open-project.ts'
import { requireRunningApp } from '../../open/running-app.ts'
import { type Trial, tryEndpoint } from '../../send/try-endpoint.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import type { Output } from '../../terminal/output.ts'
import { formatTable } from '../../terminal/table.ts'

/**
 * `upshot endpoints test <name>`: does the running app take what it must, refuse what it must, and
 * know what it had?
 */
export function define(command: Command, out: Output): void {
  command
    .argument('<name>', 'the endpoint')
    .option('--public', 'through the public URL, and so through every proxy in front (default: straight to the app)')
    .addHelpText(
      'after',
      '\nSends one event of type upshot.test, which starts no workflow but one that names the type.',
    )
    .action((name, { public: isPublic = false }) =>
      withStore(async (store, config) => {
        const endpoint = await findEndpoint(store, name)
        const app = await requireRunningApp(config)
        const receiver = isPublic ? requirePublicUrl(config) : app.receiver
        const target = { endpoint, receiver, now: systemClock.now(), signal: onInterrupt() }
        const { event, trials, isStored } = await tryEndpoint(store, target)
        const passed = isStored && trials.every(({ isRight }) => isRight)
        const rows = trials.map(({ isRight, ...trial }) => ({ ...trial, ok: isRight }))
        out.result({ endpoint: name, passed, event, stored: isStored, deliveries: rows }, () => [
          ...formatTable(trials, COLUMNS, out.paint),
          '',
          passed
            ? `Endpoint "${name}" does what it should. Event ${event} is stored.`
            : `Endpoint "${name}" does not do what it should.`,
        ])
        if (passed) return
        out.leaveWith('difference')
        out.note(
          endpoint.status === 'active'
            ? `See why: upshot deliveries list --endpoint ${name}`
            : `It is ${endpoint.status}: upshot endpoints ${endpoint.status === 'disabled' ? 'enable' : 'solve'} ${name}`,
        )
      }),
    )
}

const COLUMNS = [
  { title: 'SENT', value: ({ sent }: Trial) => sent },
  { title: 'EXPECTED', value: ({ expected }: Trial) => expected },
  {
    title: 'GOT',
    value: ({ got }: Trial) => got,
    style: ({ isRight }: Trial) => (isRight ? ('green' as const) : ('red' as const)),
  },
  { title: 'STATUS', value: ({ status }: Trial) => status, align: 'right' as const },
]

function requirePublicUrl({ publicUrl }: { publicUrl: string | null }): string {
  if (publicUrl !== null) return publicUrl
  throw new UpshotError('invalid_config', 'There is no public URL to test through.', {
    details: { fix: 'Set UPSHOT_PUBLIC_URL, or publicUrl in config/upshot.config.ts.' },
  })
}
