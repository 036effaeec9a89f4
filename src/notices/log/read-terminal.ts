/** Variables that terminals with links of OSC 8 set. */
const WITH_LINKS = ['KITTY_WINDOW_ID', 'WT_SESSION', 'WEZTERM_PANE', 'VTE_VERSION'] as const
const PROGRAMS_WITH_LINKS = ['iTerm.app', 'WezTerm', 'vscode', 'ghostty', 'Hyper']

interface TerminalFacts {
  /** Columns now; Infinity where the output is no terminal. */
  width: () => number
  hasLinks: boolean
}

/** The facts about the terminal that a log for people needs. */
export function readTerminal(
  output: { isTTY?: boolean; columns?: number },
  environment: Record<string, string | undefined>,
): TerminalFacts {
  const names = environment.TERM_PROGRAM ?? ''
  const hasLinks = WITH_LINKS.some((name) => environment[name]) || PROGRAMS_WITH_LINKS.includes(names)
  return {
    width: () => output.columns ?? Number.POSITIVE_INFINITY,
    hasLinks: output.isTTY === true && environment.TERM !== 'dumb' && hasLinks,
  }
}
