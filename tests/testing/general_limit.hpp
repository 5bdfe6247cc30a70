#pragma once

#include <cstdlib>
#include <string>

// ROOST_MODEL_SECONDS outranks what a model asks for. Tests of the limits themselves, and comparisons of two searches that
// only mean something when both came to an end, set it aside while they run.
class without_general_limit {
public:
    without_general_limit() {
        if (const char* limit = std::getenv("ROOST_MODEL_SECONDS")) {
            saved_ = limit;
            unsetenv("ROOST_MODEL_SECONDS");
        }
    }
    ~without_general_limit() {
        if (!saved_.empty()) {
            setenv("ROOST_MODEL_SECONDS", saved_.c_str(), 1);
        }
    }
    without_general_limit(const without_general_limit&) = delete;
    without_general_limit& operator=(const without_general_limit&) = delete;

private:
    std::string saved_;
};
