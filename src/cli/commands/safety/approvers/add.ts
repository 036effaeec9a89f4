import { readText } from '../../../input/read-source.ts'
import { actCommand } from '../../../operate/act-command.ts'

/** `upshot approvers add <name> --key`: from the first one on, every word has to be signed. */
export const define = actCommand('POST /approvers', {
  argument: ['name', 'name of the person: a-z, 0-9 and "-"'],
  options: (command) =>
    command
      .requiredOption('--key <file>', 'file with the Ed25519 public key in PEM')
      .option('--roles <roles>', 'roles that questions may ask for, joined by commas', ''),
  body: ({ key, roles }, name) => ({
    name,
    publicKey: readText(String(key)),
    roles: String(roles)
      .split(',')
      .map((role) => role.trim())
      .filter((role) => role !== ''),
  }),
  will: (name) => `register the approver ${name}`,
  done: (_, name) => `"${name}" may decide. From now on, every word has to be signed.`,
})
