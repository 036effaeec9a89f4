import type { Readable, Writable } from 'node:stream'
import { type Command, Option } from '@commander-js/extra-typings'
import type { AnyInput } from '../../../admin/client/index.ts'
import { ACCESS_ROLES, type AccessRole, includesRole } from '../../../core/access/role.ts'
import { refuse } from '../../../core/errors.ts'
import { readVersion } from '../../../project/read-version.ts'
import type { Cli } from '../../command.ts'
import { call, type Operations } from '../../open/operations.ts'
import type { OutputStreams } from '../../terminal/output.ts'

export function define(command: Command, { out, project }: Cli): void {
  command
    .addOption(
      new Option('--role <role>', 'the most that the agent may do; at a server at most the role of the token')
        .choices(ACCESS_ROLES)
        .default('operator' as const),
    )
    .option('--allow-writes', 'also offer the tools that change something')
    .action(({ role, allowWrites = false }) =>
      project.withOperations(async (operations) => {
        const streams = requireStreams(out.streams)
        const rights = { role: await findRole(operations, role), allowsWrites: allowWrites }
        await serve(operations, rights, streams)
      }),
    )
}

async function serve(
  operations: Operations,
  rights: { role: AccessRole; allowsWrites: boolean },
  { stdin, stdout }: { stdin: Readable; stdout: Writable },
): Promise<void> {
  const [{ StdioServerTransport }, { createAgentServer }] = await Promise.all([
    import('@modelcontextprotocol/sdk/server/stdio.js'),
    import('../../../admin/mcp/create-agent-server.ts'),
  ])
  const server = createAgentServer({
    version: readVersion(),
    rights,
    perform: (name, given, { signal, tell }) =>
      operations.perform(name, given as AnyInput, { signal, onProgress: tell }),
  })
  const ended = new Promise<void>((resolve, reject) => {
    stdin.once('end', resolve)
    stdin.once('close', resolve)
    // The transport closes itself only where a message is beyond its bound.
    server.onclose = () =>
      reject(refuse('A message of the agent is larger than 10 MiB.', 'Let the agent send less, and start it again.'))
  })
  server.onerror = (error) => {
    const reply = describeFault(error)
    if (reply !== null) stdout.write(`${JSON.stringify(reply)}\n`)
  }
  await server.connect(new StdioServerTransport(stdin, stdout))
  await ended
  await server.close()
}

/** The error of JSON-RPC for a line that is no message, of which the library says nothing. */
function describeFault(error: Error) {
  const told = { jsonrpc: '2.0', id: null } as const
  if (error instanceof SyntaxError) return { ...told, error: { code: -32_700, message: 'The line is not JSON.' } }
  if (error.name !== 'ZodError') return null
  return { ...told, error: { code: -32_600, message: 'The line is not one message of JSON-RPC 2.0.' } }
}

/** The role of the agent: at a server no more than that of the token. */
async function findRole(operations: Operations, role: AccessRole): Promise<AccessRole> {
  if (operations.local !== null) return role
  const { role: own } = await call(operations, 'GET /session')
  return includesRole(own, role) ? role : own
}

function requireStreams({ stdin, stdout }: OutputStreams): { stdin: Readable; stdout: Writable } {
  if (stdin !== undefined) return { stdin: stdin as Readable, stdout: stdout as Writable }
  throw refuse('No agent is at the standard input of this command.', 'Let the agent start it: see docs/agents.md.')
}
