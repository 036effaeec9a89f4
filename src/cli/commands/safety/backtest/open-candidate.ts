import { statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Room } from '../../../../app/play/room.ts'
import { UpshotError } from '../../../../core/errors.ts'
import type { Cli } from '../../../command.ts'
import { openCodeOf, requireLoaded } from '../open-code.ts'

/** The code that a backtest tries. */
interface Candidate extends AsyncDisposable {
  room: Room
  /** The folder that its module lies in, or that of the project's modules. */
  dir: string
  module: string
  hash: string | null
}

interface Wanted extends Omit<Parameters<typeof openCodeOf>[2], 'module'> {
  /** One module of any name, in place of a folder. */
  code: string | undefined
  against: string | undefined
}

/** Opens a room with the code of a folder, or of one module. */
export async function openCandidate(
  out: Cli['out'],
  workflow: string,
  { code, against, ...wanted }: Wanted,
): Promise<Candidate> {
  if (code === undefined) {
    const room = await openCodeOf(out, workflow, wanted)
    const { workflowsDir } = room.settings
    const { file, codeHash } = requireLoaded(room, workflow)
    const close = () => room[Symbol.asyncDispose]()
    return { room, dir: workflowsDir, module: join(workflowsDir, file), hash: codeHash, [Symbol.asyncDispose]: close }
  }
  checkModule(code, { workflows: wanted.workflows, against })
  const module = resolve(code)
  const { wrapModule } = await import('../../../../app/backtest/check-out.ts')
  const { hashModule } = await import('../../../../project/workflows/hash-module.ts')
  await using stack = new AsyncDisposableStack()
  const { workflowsDir } = stack.use(wrapModule(module))
  const room = stack.use(await openCodeOf(out, workflow, { ...wanted, workflows: workflowsDir, module: code }))
  const hash = await hashModule(module)
  const held = stack.move()
  return { room, dir: dirname(module), module, hash, [Symbol.asyncDispose]: () => held.disposeAsync() }
}

function checkModule(code: string, { workflows, against }: Pick<Wanted, 'workflows' | 'against'>): void {
  if (workflows !== undefined) {
    throw new UpshotError('invalid_request', '--code and --workflows both name the code that is tried.', {
      details: { fix: 'Leave one of them out.' },
    })
  }
  if (!isFile(code)) {
    throw new UpshotError('invalid_request', `${code} is no file that can be read.`, {
      details: { fix: 'Name a module with --code, or a folder of modules with --workflows.' },
    })
  }
  if (against !== undefined && !isFile(against)) {
    throw new UpshotError('invalid_request', 'One module can be compared with one module only.', {
      details: { fix: 'Name a module with --against too, such as "workflows/tidy.workflow.ts".' },
    })
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}
