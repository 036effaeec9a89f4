/** The shells that a completion is written for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** What may follow a command: its own commands, or what its first argument may be, and its options. */
export interface CommandWords {
  /** Empty for `upshot` itself, else such as `runs list`. */
  path: string
  words: Word[]
  /** The options that take a value, with the values that are known. */
  values: { option: string; choices: readonly string[] }[]
}

export interface Word {
  word: string
  help: string
}

/** The script that a shell reads at its start. */
export function writeCompletion(shell: Shell, commands: readonly CommandWords[]): string {
  if (shell === 'fish') return writeFish(commands)
  const functions = [
    writeLookUp('_upshot_words', commands, ({ words }) => words.map(({ word }) => word)),
    writeValues(commands),
  ]
  return [...functions, shell === 'bash' ? BASH : ZSH].join('\n')
}

function writeLookUp(
  name: string,
  commands: readonly CommandWords[],
  wordsOf: (command: CommandWords) => string[],
): string {
  const cases = commands.map((command) => `    ${quote(command.path)}) echo ${quote(wordsOf(command).join(' '))} ;;`)
  return [`${name}() {`, '  case "$1" in', ...cases, '  esac', '}'].join('\n')
}

/** Says `file` for a value that nobody can list: file names are what such values most often are. */
function writeValues(commands: readonly CommandWords[]): string {
  const cases = commands.flatMap(({ path, values }) =>
    values.map(({ option, choices }) => {
      const answer = choices.length === 0 ? 'file' : `words ${choices.join(' ')}`
      return `    ${quote(`${path} ${option}`.trim())}) echo ${quote(answer)} ;;`
    }),
  )
  return ['_upshot_values() {', '  case "$1" in', ...cases, '  esac', '}'].join('\n')
}

/**
 * The commands among the words before the cursor, without options and their values: both shells have the same need. No name in
 * it may be `path`, which zsh ties to the search path.
 */
const FIND_PATH = `_upshot_path() {
  local found="" word skip=""
  for word in "$@"; do
    if [ -n "$skip" ]; then skip=""; continue; fi
    case "$word" in
      -*) if [ -n "$(_upshot_values "\${found:+$found }$word")" ]; then skip=1; fi ;;
      *) if [ -n "$(_upshot_words "\${found:+$found }$word")" ]; then found="\${found:+$found }$word"; fi ;;
    esac
  done
  echo "$found"
}`

const BASH = `${FIND_PATH}
_upshot() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" place values words
  place="$(_upshot_path "\${COMP_WORDS[@]:1:COMP_CWORD-1}")"
  values="$(_upshot_values "\${place:+$place }$previous")"
  case "$values" in
    words*) COMPREPLY=($(compgen -W "\${values#words }" -- "$current")) ;;
    file) COMPREPLY=($(compgen -f -- "$current")) ;;
    *)
      # The commands come first; options are offered once a dash is typed.
      words=" $(_upshot_words "$place")"
      case "$current" in -*) ;; *) words="\${words%% --*}" ;; esac
      COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
  esac
}
complete -o default -F _upshot upshot`

const ZSH = `${FIND_PATH}
_upshot() {
  local location values
  location="$(_upshot_path "\${(@)words[2,CURRENT-1]}")"
  values="$(_upshot_values "\${location:+$location }$words[CURRENT-1]")"
  case "$values" in
    words*) compadd -- \${=values#words } ;;
    file) _files ;;
    *) compadd -- \${=$(_upshot_words "$location")} || _files ;;
  esac
}
compdef _upshot upshot`

function writeFish(commands: readonly CommandWords[]): string {
  const lines = commands.flatMap(({ path, words, values }) => {
    const names = path === '' ? [] : path.split(' ')
    const conditions = names.map((name) => `__fish_seen_subcommand_from ${name}`)
    const below = words.filter(({ word }) => !word.startsWith('-')).map(({ word }) => word)
    if (below.length > 0) conditions.push(`not __fish_seen_subcommand_from ${below.join(' ')}`)
    const condition = conditions.length === 0 ? '' : ` -n ${quote(conditions.join('; and '))}`
    return words.map(({ word, help }) => {
      const value = values.find(({ option }) => option === word)
      const takes =
        value === undefined ? '' : value.choices.length === 0 ? ' -r' : ` -xa ${quote(value.choices.join(' '))}`
      const what = word.startsWith('--')
        ? `-l ${word.slice(2)}`
        : word.startsWith('-')
          ? `-s ${word.slice(1)}`
          : `-fa ${word}`
      return `complete -c upshot${condition} ${what}${takes} -d ${quote(help)}`
    })
  })
  return ['complete -c upshot -e', ...lines].join('\n')
}

/** One word for a shell, whatever is in it. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
