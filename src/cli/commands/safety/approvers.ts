import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import type { Command } from '@commander-js/extra-typings'
import { APPROVER_ROUTES } from '../../../admin/contract/resources/safety/approvers.ts'
import { UpshotError } from '../../../core/errors.ts'
import type { Cli } from '../../command.ts'
import { readText } from '../../input/read-source.ts'
import { actCommand } from '../../operate/act-command.ts'
import { listCommand } from '../../operate/list-command.ts'
import { formatMoment } from '../../terminal/format-value.ts'

export const list = listCommand(APPROVER_ROUTES, 'GET /approvers', {
  columns: [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'ROLES', value: ({ roles }) => roles.join(', ') },
    { title: 'KEY', value: ({ fingerprint }) => fingerprint },
    { title: 'SINCE', value: ({ addedAt }) => formatMoment(addedAt) },
    { title: 'REMOVED', value: ({ removedAt }) => formatMoment(removedAt) },
  ],
  empty: 'Nobody is registered: whoever can write the data directory may decide.',
})

export function key(command: Command, { out }: Cli): void {
  command.argument('<name>', 'name of the files to write, such as anna').action((name) => {
    const files = { privateKey: `${name}.key`, publicKey: `${name}.pub` }
    if (out.given.dryRun)
      return out.result({ ...files, made: false }, () => [`Would write ${name}.key and ${name}.pub.`])
    const { privateKey, publicKey } = generateKeyPairSync('ed25519', {
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    })
    try {
      writeFileSync(files.privateKey, privateKey, { mode: 0o600, flag: 'wx' })
      writeFileSync(files.publicKey, publicKey, { flag: 'wx' })
    } catch (cause) {
      throw new UpshotError('conflict', `Cannot write ${files.privateKey} and ${files.publicKey} here.`, {
        cause,
        fix: 'Choose a name whose files do not exist yet, in a folder that you may write to.',
      })
    }
    out.result({ ...files, made: true }, () => [`Wrote ${files.privateKey}, which is secret, and ${files.publicKey}.`])
    out.note(`Register the public key: upshot approvers add ${name} --key ${files.publicKey}`)
  })
}

export const add = actCommand('POST /approvers', {
  argument: ['name', 'name of the person: a-z, 0-9 and "-"'],
  options: (command) =>
    command
      .requiredOption('--key <file>', 'file with the Ed25519 public key in PEM')
      .option('--roles <roles>', 'roles that questions may ask for, joined by commas (default: none)'),
  body: ({ key, roles = '' }, name) => {
    const named = roles.split(',').map((role) => role.trim())
    return { name, publicKey: readText(key), roles: named.filter((role) => role !== '') }
  },
  will: (name) => `register the approver ${name}`,
  done: (_, name) => `"${name}" may decide. From now on, every decision has to be signed.`,
})

export const remove = actCommand('DELETE /approvers/:name', {
  argument: ['name', 'name of the person'],
  will: (name) => `end the right of "${name}" to decide`,
  asks: () => [],
  done: (_, name) => `"${name}" may not decide any more.`,
})
