import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import type { Command } from '@commander-js/extra-typings'
import { UpshotError } from '../../../../core/errors.ts'
import type { Cli } from '../../../command.ts'

/** `upshot approvers key <name>`: writes `<name>.key` and `<name>.pub` to this folder. */
export function define(command: Command, { out }: Cli): void {
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
        details: { fix: 'Choose a name whose files do not exist yet, in a folder that you may write to.' },
      })
    }
    out.result({ ...files, made: true }, () => [`Wrote ${files.privateKey}, which is secret, and ${files.publicKey}.`])
    out.note(`Register the public key: upshot approvers add ${name} --key ${files.publicKey}`)
  })
}
