import type { Command } from '@commander-js/extra-typings'
import { requireEndpoint } from '../../../admin/queries/require-row.ts'
import { type Trial, tryEndpoint } from '../../../app/send/try-endpoint.ts'
import { UpshotError } from '../../../core/errors.ts'
import type { Endpoint } from '../../../core/incoming/endpoint.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../open/command-clock.ts'
import { probeKeyOf } from '../../open/probe-key.ts'
import { requireRunningApp } from '../../open/running-app.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import { formatTable } from '../../terminal/table.ts'

/**
 * `upshot endpoints test <name>`: sends the running app a signed, a forged and a repeated delivery.
 * Exits with 7 if an answer is wrong.
 */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<name>', 'name of the endpoint')
    .option('--public', 'use the public URL, through every proxy before the app (default: its local address)')
    .addHelpText('after', '\nThe event has the type upshot.test, which starts only workflows that name this type.')
    .action((name, { public: isPublic = false }) =>
      project.withStore(async (store, config) => {
        const endpoint = await requireEndpoint(store, name)
        const app = await requireRunningApp(config)
        const receiver = isPublic ? requirePublicUrl(config) : app.receiver
        const target = {
          endpoint,
          receiver,
          now: commandClock.now(),
          signal: onInterrupt(),
          probeKey: probeKeyOf(config),
        }
        await project.recordAction({ action: 'endpoint.test', target: endpoint.name, parameters: {} }, 'begun')
        const { event, trials, isStored } = await tryEndpoint(store, target)
        const passed = isStored && trials.every(({ isRight }) => isRight)
        const rows = trials.map(({ isRight, ...trial }) => ({ ...trial, ok: isRight }))
        out.result({ endpoint: name, passed, event, stored: isStored, deliveries: rows }, () => [
          ...formatTable(trials, COLUMNS, out),
          '',
          passed ? `Endpoint "${name}" works. Event ${event} is stored.` : `Endpoint "${name}" does not work.`,
        ])
        if (passed) return
        out.leaveWith('difference')
        out.note(adviseFailure(endpoint))
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

function adviseFailure({ name, status }: Endpoint): string {
  if (status === 'active') return `See the reason: upshot deliveries list --endpoint ${name}`
  return `It is ${status}: upshot endpoints ${status === 'disabled' ? 'enable' : 'solve'} ${name}`
}

function requirePublicUrl({ publicUrl }: { publicUrl: string | null }): string {
  if (publicUrl !== null) return publicUrl
  throw new UpshotError('invalid_config', 'No public URL is configured.', {
    details: { fix: 'Set UPSHOT_PUBLIC_URL, or publicUrl in config/upshot.config.ts.' },
  })
}
