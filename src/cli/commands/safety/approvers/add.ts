import { createPublicKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../../core/errors.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { confirm } from '../../../terminal/confirm.ts'

/** `upshot approvers add <name> --key`: from the first one on, every word has to be signed. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<name>', 'name of the person: a-z, 0-9 and "-"')
    .requiredOption('--key <file>', 'file with the Ed25519 public key in PEM')
    .option('--roles <roles>', 'roles that questions may ask for, joined by commas', '')
    .action((name, { key, roles: text }) =>
      project.withStore(async (store) => {
        const roles = text.split(',').flatMap((role) => (role.trim() === '' ? [] : [role.trim()]))
        const publicKey = readPublicKey(key)
        if (!/^[a-z0-9][a-z0-9-]{0,39}$/.test(name)) {
          throw new UpshotError('invalid_request', `"${name}" is no name. Use a-z, 0-9 and "-", at most 40.`)
        }
        if (out.given.dryRun) {
          await confirm(out, { will: `register the approver ${name}` })
          return out.result({ name, roles, dryRun: true }, () => ['Nobody was registered.'])
        }
        await store.addApprover({ name, publicKey, roles, addedAt: commandClock.now(), removedAt: null })
        out.result({ name, roles }, () => [`"${name}" may decide. From now on, every word has to be signed.`])
      }),
    )
}

function readPublicKey(file: string): string {
  try {
    const key = createPublicKey(readFileSync(file))
    if (key.asymmetricKeyType === 'ed25519') return key.export({ type: 'spki', format: 'pem' }).toString()
  } catch (cause) {
    throw describeFault(file, cause)
  }
  throw describeFault(file)
}

function describeFault(file: string, cause?: unknown): UpshotError {
  return new UpshotError('invalid_request', `${file} holds no Ed25519 public key in PEM.`, {
    cause,
    details: { fix: 'Make a pair with "upshot approvers key <name>", and name the .pub file.' },
  })
}
