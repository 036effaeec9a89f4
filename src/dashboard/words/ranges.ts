/** Numbers as ranges, such as `1-40,45`. */
export function formatRanges(numbers: readonly number[]): string {
  const ranges: { from: number; to: number }[] = []
  for (const number of [...numbers].sort((one, other) => one - other)) {
    const last = ranges.at(-1)
    if (last && number === last.to + 1) last.to = number
    else ranges.push({ from: number, to: number })
  }
  return ranges.map(({ from, to }) => (from === to ? String(from) : `${from}-${to}`)).join(',')
}
