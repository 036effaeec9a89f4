import { type Command, Option, type OptionValues } from '@commander-js/extra-typings'
import { InvalidArgumentError } from 'commander'
import { SCHEME_PRESETS, type SchemePreset, type SignatureScheme } from '../../core/incoming/signature.ts'
import { signatureScheme } from '../../core/incoming/signature-scheme.ts'
import { parseJson } from '../../core/json.ts'

/** Adds the options for the source of a secret. Its value is never an argument. */
export function addSecretOptions<Args extends unknown[], Options extends OptionValues>(
  command: Command<Args, Options>,
  { what = 'secret' }: { what?: string } = {},
) {
  return command
    .addOption(
      new Option('--secret-file <file>', `read the ${what} from a file`).conflicts(['secretStdin', 'secretEnv']),
    )
    .addOption(new Option('--secret-stdin', `read the ${what} from standard input`).conflicts('secretEnv'))
    .option('--secret-env <name>', `read the ${what} from an environment variable`)
}

const PRESETS = Object.keys(SCHEME_PRESETS) as SchemePreset[]

/** Help text of an option that {@link parseScheme} reads. */
export const SCHEME_HELP = `how deliveries are signed: ${PRESETS.join(', ')}, or a scheme as JSON`

/** Reads `--scheme`: the name of a preset, or JSON as `endpoints show --json` prints it. */
export function parseScheme(text: string): SignatureScheme {
  const preset = PRESETS.find((name) => name === text)
  if (preset !== undefined) return SCHEME_PRESETS[preset]
  if (!text.trimStart().startsWith('{')) {
    throw new InvalidArgumentError(`Give one of ${PRESETS.join(', ')}, or a scheme as JSON.`)
  }
  const parsed = signatureScheme.safeParse(parseJson(text))
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the scheme'}: ${message}`)
  throw new InvalidArgumentError(`It is not a valid scheme. ${faults.join('; ')}.`)
}

/** Reads `--header`, the name of an HTTP header. */
export function parseHeader(text: string): string {
  if (/^[\w-]+$/.test(text)) return text
  throw new InvalidArgumentError('Give the name of an HTTP header, such as X-Service-Signature.')
}

/** The scheme with its signature in this header, if one is named. */
export function withHeader(scheme: SignatureScheme, header: string | undefined): SignatureScheme {
  return header === undefined ? scheme : { ...scheme, header }
}

/** Reads `--events`: event types and families, separated by commas. */
export function parsePatterns(text: string): string[] {
  const patterns = text.split(',').map((pattern) => pattern.trim())
  if (patterns.every((pattern) => /^(\*|[\w-]+(\.[\w-]+)*(\.\*)?)$/.test(pattern))) return patterns
  throw new InvalidArgumentError('Give event types or families, such as "transfer.completed,file.*", or "*".')
}
