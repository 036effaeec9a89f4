import type { CommandTree } from '../../command.ts'

/** The commands of `upshot approvals`. */
export const APPROVALS_COMMANDS: CommandTree = {
  list: { summary: 'list what waits for people, newest first', load: () => import('./approvals/list.ts') },
  show: { summary: 'show the list or the question of an approval', load: () => import('./approvals/show.ts') },
  approve: { summary: 'approve exactly the list that you saw', load: () => import('./approvals/approve.ts') },
  deny: { summary: 'deny an approval, so that its steps fail', load: () => import('./approvals/deny.ts') },
}

/** The commands of `upshot approvers`. */
export const APPROVERS_COMMANDS: CommandTree = {
  list: { summary: 'list the people who may decide approvals', load: () => import('./approvers/list.ts') },
  key: { summary: 'make a key pair for a person', load: () => import('./approvers/key.ts') },
  add: { summary: 'register a person by their public key', load: () => import('./approvers/add.ts') },
  remove: { summary: "end a person's right to decide", load: () => import('./approvers/remove.ts') },
}

/** The commands of `upshot effects`. */
export const EFFECTS_COMMANDS: CommandTree = {
  list: { summary: 'list the newest rows of the effect ledger', load: () => import('./effects/list.ts') },
  show: { summary: 'show a whole row of the ledger', load: () => import('./effects/show.ts') },
  of: { summary: 'show everything that was done to a file', load: () => import('./effects/of.ts') },
  stop: { summary: 'hold every delete and `once` step from now on', load: () => import('./effects/stop.ts') },
  resume: { summary: 'end a stop, and let what it held go on', load: () => import('./effects/resume.ts') },
  export: { summary: 'write the ledger as CSV or ndjson', load: () => import('./effects/export.ts') },
  verify: {
    summary: 'follow the seals of the ledger, and look for its anchors',
    load: () => import('./effects/verify.ts'),
  },
  anchor: { summary: 'seal the ledger and print the end of its chain', load: () => import('./effects/anchor.ts') },
  restored: {
    summary: 'say that the database was restored from a backup',
    load: () => import('./effects/restored.ts'),
  },
}

/** The commands of `upshot deploys`. */
export const DEPLOYS_COMMANDS: CommandTree = {
  check: {
    summary: 'find the unfinished runs that this code would not let go on',
    load: () => import('./deploys/check.ts'),
  },
}

/** The commands of `upshot corpus`. */
export const CORPUS_COMMANDS: CommandTree = {
  save: {
    summary: 'write redacted runs to a file, for backtests without the database',
    load: () => import('./corpus/save.ts'),
  },
}

/** The commands of `upshot guard`. */
export const GUARD_COMMANDS: CommandTree = {
  show: { summary: 'show how much of each limit is used', load: () => import('./guard/show.ts') },
  suggest: { summary: 'suggest limits from what workflows did', load: () => import('./guard/suggest.ts') },
}

/** The commands of `upshot audit`. */
export const AUDIT_COMMANDS: CommandTree = {
  list: { summary: 'list who did what, from where and why, newest first', load: () => import('./audit/list.ts') },
}

/** The commands of `upshot tokens`. */
export const TOKENS_COMMANDS: CommandTree = {
  list: { summary: 'list the tokens of the admin API', load: () => import('./tokens/list.ts') },
  add: { summary: 'make a token for a program, which is shown once', load: () => import('./tokens/add.ts') },
  revoke: { summary: 'revoke a token', load: () => import('./tokens/revoke.ts') },
}
