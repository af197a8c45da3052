"""Loss and gradients of a small Qwen3 by PyTorch, for tests/core/policy/parity_test.ts.

Run:  python bench/parity/qwen3_gradients.py   (needs torch, transformers, safetensors)
It writes tests/_vectors/qwen3_gradients.safetensors.
"""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import Qwen3Config, Qwen3ForCausalLM

CONFIG = {
    "vocab_size": 61,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0,
    "tie_word_embeddings": True,
    "max_position_embeddings": 32,
    "initializer_range": 0.2,
}
ROWS, LENGTH = 3, 11

torch.manual_seed(7)
model = Qwen3ForCausalLM(Qwen3Config(**CONFIG, attn_implementation="eager")).float()
with torch.no_grad():  # norms away from 1, so that their gradients are put to the test
    for name, parameter in model.named_parameters():
        if parameter.dim() == 1:
            parameter.add_(0.1 * torch.randn_like(parameter))
tokens = torch.randint(0, CONFIG["vocab_size"], (ROWS, LENGTH))
mask = (torch.rand(ROWS, LENGTH - 1) < 0.7).float()

logits = model(tokens).logits[:, :-1]
log_probs = torch.log_softmax(logits, -1).gather(-1, tokens[:, 1:, None]).squeeze(-1)
loss = -(log_probs * mask).sum() / mask.sum()
loss.backward()

tensors = {"token_ids": tokens.float(), "mask": mask, "loss": loss.detach().reshape(1)}
for name, parameter in model.named_parameters():
    tensors[name] = parameter.detach().clone()
    tensors["grad/" + name] = parameter.grad.clone()
out = Path(__file__).parents[2] / "tests/_vectors/qwen3_gradients.safetensors"
save_file(tensors, out, metadata={"config": json.dumps(CONFIG), "torch": torch.__version__})
print(f"{out}: loss {loss.item():.7f}, {len(tensors)} tensors")
