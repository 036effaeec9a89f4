import { useFilters } from '../../state/filters.ts'
import { commandOf, shellWord } from '../../words/format.ts'

/** How the API and the command line are asked for an event, whose account is in the address. */
export function useEventInput(id: string) {
  const { read } = useFilters()
  const account = read('account')
  const query = account === '' ? {} : { account }
  return { input: { params: { id }, query }, cli: commandOf(`upshot events show ${shellWord(id)}`, query, ['account']) }
}
