/**
 * GRPO's advantages of one group (Shao et al., 2024): the reward less the group's mean, divided by its
 * deviation (n−1) + 1e-6 when `normByStd`; without it this is Dr.GRPO. Null rewards (dropped rollouts) are
 * left out of the baseline and get 0, as does a group of one and a group of equal rewards.
 */
export function groupAdvantages(
  rewards: readonly (number | null)[],
  { normByStd }: { readonly normByStd: boolean },
): number[] {
  const known = rewards.filter((reward) => reward !== null);
  if (known.length < 2) return rewards.map(() => 0);
  const mean = known.reduce((sum, reward) => sum + reward, 0) / known.length;
  const squares = known.reduce((sum, reward) => sum + (reward - mean) ** 2, 0);
  const deviation = Math.sqrt(squares / (known.length - 1));
  const scale = normByStd ? 1 / (deviation + 1e-6) : 1;
  const flat = known.every((reward) => reward === known[0]);
  return rewards.map((reward) => reward === null || flat ? 0 : (reward - mean) * scale);
}
