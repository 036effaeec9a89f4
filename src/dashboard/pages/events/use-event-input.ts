import { useFilters } from '../../state/filters.ts'
import { commandOf, shellWord } from '../../words/format.ts'

/** What the API and the command line ask of the event of a page; its account is in the address. */
export function useEventInput(id: string) {
  const { read } = useFilters()
  const account = read('account')
  const query = account === '' ? {} : { account }
  return { input: { params: { id }, query }, cli: commandOf(`upshot events show ${shellWord(id)}`, query, ['account']) }
}
